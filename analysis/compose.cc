#include "analysis/compose.h"

#include <fmt/format.h>

#include "analysis/format.h"
#include "analysis/sections.h"

namespace dark::analysis {
namespace {

void Append(Document& document, std::vector<Block> blocks) {
  for (Block& block : blocks) document.blocks.push_back(std::move(block));
}

void AddWarnings(const Study& study, Document& document) {
  for (const Study::Unreadable& file : study.unreadable)
    document.blocks.push_back(Paragraph{
        fmt::format("Could not be read and is not part of this report: {} ({})", file.path, file.reason),
        Tone::kBad});
  for (const std::string& duplicate : study.duplicates)
    document.blocks.push_back(Paragraph{fmt::format("Counted once: {}.", duplicate), Tone::kWarning});
  if (study.sections.size() > 1)
    document.blocks.push_back(
        Paragraph{fmt::format("The runs were validated on {} different splits. Losses on different tokens "
                              "cannot be compared, so "
                              "each split has its own part below and nothing is compared across them.",
                              study.sections.size()),
                  Tone::kBad});
}

void AddSection(const Section& section, const std::string& prefix, Document& document) {
  const std::vector<Claim> claims = JudgeClaims(section);
  document.blocks.push_back(Paragraph{Verdict(section, claims)});
  Append(document, WhatWasRun(section));
  Append(document, Results(section));
  Append(document, StatusMap(section));
  Append(document, Figures(section, prefix));
  Append(document, Spikes(section));
  Append(document, FeatureHealth(section));
  Append(document, Claims(claims));
  Append(document, Notes(section));
  Append(document, RunList(section));
}

}  // namespace

Document Compose(const Study& study) {
  Document document{"Stability report", {}};
  AddWarnings(study, document);
  for (std::size_t i = 0; i < study.sections.size(); ++i) {
    const Section& section = study.sections[i];
    const bool several = study.sections.size() > 1;
    if (several)
      document.blocks.push_back(
          Heading{2, fmt::format("Validation split {}",
                                 section.split_hash.empty() ? "not recorded" : section.split_hash)});
    AddSection(section, several ? fmt::format("split{}-", i + 1) : "", document);
  }
  return document;
}

}  // namespace dark::analysis
