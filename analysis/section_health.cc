#include <fmt/format.h>

#include "analysis/format.h"
#include "analysis/health.h"
#include "analysis/sections.h"

namespace dark::analysis {
namespace {

std::string Range(double low, double high, int digits) {
  const std::string a = Fixed(low, digits), b = Fixed(high, digits);
  return a == b ? a : fmt::format("{} to {}", a, b);
}

std::vector<Cell> Row(const Arm& arm, const Group& group, const Health& h) {
  return {arm.label,
          Lr(group.lr),
          fmt::format("{} (n={})", h.step, h.runs),
          {Range(h.mx2_low, h.mx2_high, 2), arm.m && h.mx2_high > kMx2Limit ? Tone::kWarning : Tone::kPlain},
          Range(h.kernel_error, h.kernel_worst, 3),
          Fixed(h.min_denominator, 4),
          {Fixed(h.underflow_rows, 0), h.underflow_rows > 0 ? Tone::kWarning : Tone::kPlain},
          Range(h.sigma_min, h.sigma_max, 3),
          fmt::format("{} / {}", Fixed(h.anisotropy_q, 2), Fixed(h.anisotropy_k, 2))};
}

// Groups with random features in which a run passed the limit of E‖Mx‖².
std::vector<std::string> LoudGroups(const Section& section) {
  std::vector<std::string> loud;
  for (const Arm& arm : section.arms)
    for (const Group& group : arm.groups) {
      std::string first;
      std::size_t above = 0;
      for (const AnalysedRun* run : group.runs) {
        const std::string reading = Mx2Warning(*run);
        if (!arm.m || reading.empty()) continue;
        if (++above == 1) first = reading;
      }
      if (above > 0)
        loud.push_back(fmt::format("{} at lr {}: {} of {}, first {}", arm.label, Lr(group.lr), above,
                                   Count(group.runs.size(), "run"), first));
    }
  return loud;
}

}  // namespace

std::vector<Block> FeatureHealth(const Section& section) {
  Table table{
      "At the last reading of each run, over layers and the n runs with readings. Kernel error: relative RMS "
      "error of the attention output against exact attention with the own kernel, mean to worst; it says how "
      "well a variant's kernel is estimated, not how near it is to softmax. Underflowed rows: over all "
      "readings.",
      {"variant", "learning rate", "step", "E‖Mx‖²", "kernel error (own kernel)", "smallest denominator",
       "underflowed rows", "eigenvalues of Σ", "anisotropy q / k"},
      {}};
  for (const Arm& arm : section.arms)
    for (const Group& group : arm.groups)
      if (const auto health = HealthOf(group)) table.rows.push_back(Row(arm, group, *health));
  std::vector<Block> blocks = {Heading{2, "Random-feature health"}};
  if (table.rows.empty())
    blocks.push_back(Paragraph{"No run has a health reading."});
  else
    blocks.push_back(table);
  if (const std::vector<std::string> loud = LoudGroups(section); !loud.empty()) {
    blocks.push_back(Paragraph{
        fmt::format("E‖Mx‖² rose above {} in the runs below. The number of features needed grows like "
                    "exp(2 E‖Mx‖²), so the estimate of the kernel is mostly noise there.",
                    kMx2Limit),
        Tone::kWarning});
    blocks.push_back(List{loud});
  }
  return blocks;
}

}  // namespace dark::analysis
