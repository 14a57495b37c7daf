#include "analysis/divergence.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>

namespace dark::analysis {
namespace {

using Answer = Divergence::Answer;

std::string Attribute(const RunData& run, const std::string& name) {
  const auto found = run.attributes.find(name);
  return found == run.attributes.end() ? "" : found->second;
}

std::optional<std::int64_t> ToStep(const std::string& text) {
  std::int64_t step = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), step);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return step;
}

Divergence NonFinite(const RunData& run) {
  if (run.status() == RunStatus::kDiverged) {
    const std::string tensor = Attribute(run, "bad_tensor");
    return {"D0", Answer::kYes, ToStep(Attribute(run, "bad_step")),
            tensor.empty() ? "not finite" : fmt::format("not finite: {}", tensor)};
  }
  for (const StepRow& row : run.steps)
    if (!std::isfinite(row.loss))
      return {"D0", Answer::kYes, row.step, fmt::format("training loss is {}", row.loss)};
  return {"D0", Answer::kNo, {}, "finite throughout"};
}

Divergence GainedNothing(const RunData& run) {
  if (run.evals.empty() || run.evals.front().step != 0)
    return {"D1", Answer::kNotComputable, {}, "no evaluation at step 0"};
  if (run.evals.size() < 2) return {"D1", Answer::kNotComputable, {}, "no evaluation after step 0"};
  const EvalRow &first = run.evals.front(), &last = run.evals.back();
  // Written so that a NaN counts as diverged: every comparison with NaN is false.
  if (!(last.loss < first.loss))
    return {"D1", Answer::kYes, last.step,
            fmt::format("validation loss {:.4g}, at step 0 {:.4g}", last.loss, first.loss)};
  return {"D1", Answer::kNo, {}, "validation loss fell"};
}

Divergence StaysAboveMinimum(const RunData& run, const DivergenceLimits& limits) {
  double minimum = std::numeric_limits<double>::infinity();
  std::size_t above = 0;
  for (std::size_t i = 0; i < run.steps.size(); ++i) {
    const double loss = run.steps[i].loss;
    above = !(loss <= limits.factor * minimum) ? above + 1 : 0;
    if (above == limits.steps_above)
      return {"D2", Answer::kYes, run.steps[i + 1 - above].step,
              fmt::format("above {} × its minimum {:.4g} for {} steps", limits.factor, minimum, above)};
    if (loss < minimum) minimum = loss;
  }
  if (run.steps.size() < limits.steps_above)
    return {"D2", Answer::kNotComputable, {}, fmt::format("{} steps", run.steps.size())};
  return {"D2", Answer::kNo, {}, "no lasting rise"};
}

Divergence Unrecovered(const RunData& run, std::span<const Event> events, const DivergenceLimits& limits) {
  for (const Event& event : events) {
    const std::size_t watched = run.steps.size() - event.start;
    if (!event.rise || event.recovery.value_or(watched) < limits.steps_to_return) continue;
    return {"D3", Answer::kYes, run.steps[event.start].step,
            event.recovery ? fmt::format("took {} steps to recover", *event.recovery)
                           : fmt::format("not recovered in the {} steps left", watched)};
  }
  return {"D3", Answer::kNo, {}, "every spike recovered"};
}

}  // namespace

std::vector<Divergence> CheckDivergence(const RunData& run, std::span<const Event> loss_events,
                                        const DivergenceLimits& limits) {
  return {NonFinite(run), GainedNothing(run), StaysAboveMinimum(run, limits),
          Unrecovered(run, loss_events, limits)};
}

std::vector<std::string> Describe(const DivergenceLimits& limits) {
  return {"D0: a loss, gradient or parameter is not finite",
          "D1: the last validation loss is not below the one at step 0",
          fmt::format("D2: training loss above {} × its running minimum for {} steps in a row", limits.factor,
                      limits.steps_above),
          fmt::format("D3: a spike is not recovered after {} steps", limits.steps_to_return)};
}

}  // namespace dark::analysis
