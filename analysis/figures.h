#pragma once

#include <optional>
#include <vector>

#include "analysis/document.h"
#include "analysis/study.h"

namespace dark::analysis {

// The figures of a section. `prefix` makes their ids unique in a report of several sections. All throw
// Error(kFailed) when gnuplot fails.

/// Training loss against the step, one panel a learning rate; one figure for every m, each with the arms that
/// have no m.
std::vector<Figure> LossCurves(const Section& section, const std::string& prefix);
/// Gradient norm before clipping, logarithmic, laid out like LossCurves.
std::vector<Figure> GradientCurves(const Section& section, const std::string& prefix);
/// Final validation loss and accuracy against the learning rate; none when no run has finished.
std::optional<Figure> AgainstLearningRate(const Section& section, const std::string& prefix);
/// The same at each arm's best learning rate against m; none with fewer than two values of m.
std::optional<Figure> AgainstFeatures(const Section& section, const std::string& prefix);
/// Kernel error at the last health reading against m; none with fewer than two values of m.
std::optional<Figure> KernelErrorAgainstFeatures(const Section& section, const std::string& prefix);

}  // namespace dark::analysis
