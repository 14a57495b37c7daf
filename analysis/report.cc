#include "analysis/report.h"

#include <algorithm>
#include <filesystem>

#include "analysis/compose.h"
#include "analysis/csv.h"
#include "analysis/study.h"
#include "core/files/file.h"
#include "core/files/replace_file.h"

namespace dark {

Report WriteReport(const std::vector<std::string>& dirs, const std::string& out) {
  const analysis::Study study = analysis::ReadStudy(dirs);
  const std::filesystem::path folder =
      out.empty() ? std::filesystem::path(dirs.front()) / "report" : std::filesystem::path(out);
  MakeFolders((folder / "figures").string());
  const auto write = [&](const std::string& name, const std::string& content) {
    ReplaceFile((folder / name).string(), content);
  };
  const analysis::Document document = analysis::Compose(study);
  for (const analysis::Block& block : document.blocks)
    if (const auto* figure = std::get_if<analysis::Figure>(&block))
      write("figures/" + figure->id + ".svg", figure->svg);
  write("runs.csv", analysis::RunsCsv(study));
  write("events.csv", analysis::EventsCsv(study));
  write("groups.csv", analysis::GroupsCsv(study));
  write("report.md", analysis::ToMarkdown(document));
  write("report.html", analysis::ToHtml(document));

  Report report;
  report.html = (folder / "report.html").string();
  report.markdown = (folder / "report.md").string();
  report.summary = analysis::Summary(study);
  report.runs = study.runs.size();
  report.diverged = std::count_if(study.runs.begin(), study.runs.end(),
                                  [](const analysis::AnalysedRun& run) { return run.diverged(); });
  report.unreadable = study.unreadable.size();
  return report;
}

}  // namespace dark
