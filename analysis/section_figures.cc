#include "analysis/figures.h"
#include "analysis/sections.h"

namespace dark::analysis {

std::vector<Block> Figures(const Section& section, const std::string& prefix) {
  std::vector<Block> blocks = {Heading{2, "Figures"}};
  for (auto figure : {AgainstLearningRate(section, prefix), AgainstFeatures(section, prefix)})
    if (figure) blocks.push_back(std::move(*figure));
  for (Figure& figure : LossCurves(section, prefix)) blocks.push_back(std::move(figure));
  for (Figure& figure : GradientCurves(section, prefix)) blocks.push_back(std::move(figure));
  if (auto figure = KernelErrorAgainstFeatures(section, prefix)) blocks.push_back(std::move(*figure));
  return blocks;
}

}  // namespace dark::analysis
