#pragma once

#include <string>
#include <vector>

#include "analysis/claims.h"
#include "analysis/document.h"
#include "analysis/study.h"

namespace dark::analysis {

// The parts of a report, in the order in which they stand in it. Each says for one section what it found,
// with n beside every number.

std::vector<Block> WhatWasRun(const Section& section);
/// Final loss, accuracy and gap to exact of every group; learning-rate sensitivity of every arm; paired
/// differences between variants.
std::vector<Block> Results(const Section& section);
/// Arm × learning rate: what became of the runs.
std::vector<Block> StatusMap(const Section& section);
std::vector<Block> Figures(const Section& section, const std::string& prefix);
std::vector<Block> Spikes(const Section& section);
std::vector<Block> FeatureHealth(const Section& section);
std::vector<Block> Claims(const std::vector<Claim>& claims);
/// Grid edges, missing and unfinished runs.
std::vector<Block> Notes(const Section& section);
std::vector<Block> RunList(const Section& section);

/// "18 runs of 6 variants at 3 learning rates with 1 seed: 17 done, 1 diverged".
std::string Counts(const Section& section);
/// One paragraph in plain words.
std::string Verdict(const Section& section, const std::vector<Claim>& claims);
/// "done", "diverged at step 120 (attn.q)", "running at step 80 of 400", …
std::string Fate(const AnalysedRun& run);

}  // namespace dark::analysis
