#include "analysis/report.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "analysis/compose.h"
#include "analysis/csv.h"
#include "analysis/study.h"
#include "core/files/file.h"
#include "experiments/run_file/run_file.h"
#include "tests/analysis/synthetic.h"
#include "tests/temporary_folder.h"

namespace dark::analysis {
namespace {

namespace fs = std::filesystem;

void Write(const fs::path& folder, const Synthetic& made) {
  fs::create_directories(folder / NameOf(made));
  WriteRun((folder / NameOf(made) / "run.h5").string(), Make(made));
}

void WriteSweep(const fs::path& folder, const std::vector<Synthetic>& sweep = SyntheticSweep()) {
  for (const Synthetic& made : sweep) Write(folder, made);
}

bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::size_t Occurrences(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++n;
  return n;
}

}  // namespace

TEST_CASE("A report of a sweep names everything that ran and needs nothing else to be read") {
  const TemporaryFolder folder;
  const fs::path dir = folder / "with space";
  WriteSweep(dir / "runs");
  const Report report = WriteReport({(dir / "runs").string()}, (dir / "out").string());
  CHECK(report.exit() == Exit::kOk);
  CHECK(report.runs == 36);
  CHECK(report.diverged == 2);
  const std::string html = ReadFile(report.html), markdown = ReadFile(report.markdown);
  for (const char* name : {"exact", "darkformer m=16", "darkformer m=64", "performer m=16", "performer m=64",
                           "uniform", "0.001", "0.003", "0.01", "8c1f0a52d3e4b677", "0123abcd"}) {
    CHECK(Contains(html, name));
    CHECK(Contains(markdown, name));
  }
  CHECK(Contains(html, "running at step 230 of 400"));
  CHECK(Contains(html, "diverged at step 290 (not finite: layer.0.attn.q)"));
  CHECK(Contains(html, "not computable: 1000-step window, 400 steps"));
  CHECK(Contains(html, "text/&lt;book&gt; &amp; more.txt"));
  for (const char* outside : {"<script", "http://", "https://", "src=", "<link", "url(", "@import"}) {
    INFO(outside);
    // The namespaces of SVG are names, not addresses.
    CHECK(Occurrences(html, outside) ==
          (std::string(outside) == "http://" ? 2 * Occurrences(html, "<svg") : std::size_t{0}));
  }
  for (const fs::directory_entry& figure : fs::directory_iterator(dir / "out/figures"))
    CHECK(Contains(markdown, "figures/" + figure.path().filename().string()));
  const long lines = std::count(report.summary.begin(), report.summary.end(), '\n');
  CHECK(lines <= 15);
  CHECK(lines >= 11);
}

TEST_CASE("The numbers of a report equal those recomputed from its HDF5 files with h5py") {
  const TemporaryFolder folder;
  const fs::path dir = folder / "with space";
  std::vector<Synthetic> sweep = SyntheticSweep();
  for (const std::int64_t seed : {1, 2, 3}) {
    Synthetic made{"lfk", 32, 1e-3, seed};
    made.steps = made.planned = 1300;
    made.spikes = {1100, 1200};
    sweep.push_back(made);
  }
  WriteSweep(dir / "runs", sweep);
  WriteReport({(dir / "runs").string()}, (dir / "out").string());
  const std::string log = (dir / "log").string();
  const std::string command = "\"" PYTHON "\" \"" SOURCE_DIR "/tests/analysis/check_report.py\" \"" +
                              (dir / "runs").string() + "\" \"" + (dir / "out").string() + "\" > \"" + log +
                              "\" 2>&1";
  const int status = std::system(command.c_str());
  INFO(ReadFile(log));
  CHECK(status == 0);
  CHECK(Contains(ReadFile(log), "numbers agree"));
}

TEST_CASE("The same files give the same bytes") {
  const TemporaryFolder folder;
  const fs::path dir = folder / "with space";
  WriteSweep(dir / "runs");
  const Report a = WriteReport({(dir / "runs").string()}, (dir / "a").string());
  const Report b = WriteReport({(dir / "runs").string()}, (dir / "b").string());
  CHECK(ReadFile(a.html) == ReadFile(b.html));
  CHECK(ReadFile(a.markdown) == ReadFile(b.markdown));
  for (const char* name : {"a/runs.csv", "a/events.csv", "a/groups.csv"})
    CHECK(ReadFile((dir / name).string()) == ReadFile((dir / std::string("b").append(name + 1)).string()));
  CHECK(a.summary == b.summary);
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(dir / "a"))
    CHECK(entry.path().extension() != ".tmp");
}

TEST_CASE("Files that are no run are listed and the others still reported") {
  const TemporaryFolder folder;
  const fs::path dir = folder / "with space";
  Write(dir / "runs", Synthetic{});
  Write(dir / "runs", Synthetic{"uniform"});
  const std::string whole = ReadFile((dir / "runs" / NameOf(Synthetic{}) / "run.h5").string());
  std::vector<std::string> broken = {"", "hello", whole.substr(0, whole.size() / 2), whole.substr(0, 100)};
  for (std::size_t i = 0; i < broken.size(); ++i)
    folder.Write("with space/runs/broken " + std::to_string(i) + "/run.h5", broken[i]);
  const Report report = WriteReport({dir.string()}, (dir / "out").string());
  CHECK(report.runs == 2);
  CHECK(report.unreadable == broken.size());
  CHECK(report.exit() == Exit::kFailed);
  const std::string html = ReadFile(report.html);
  for (std::size_t i = 0; i < broken.size(); ++i) CHECK(Contains(html, "broken " + std::to_string(i)));
  CHECK(Contains(report.summary, "4 files could not be read"));
}

TEST_CASE("A missing folder and a folder without runs are refused with its name") {
  const TemporaryFolder folder;
  const fs::path dir = folder / "with space";
  CHECK_THROWS_WITH(WriteReport({dir.string() + "/none"}, ""), Catch::Contains("none: no such directory"));
  fs::create_directory(dir);
  CHECK_THROWS_WITH(WriteReport({dir.string()}, ""), Catch::Contains(dir.string() + ": no run.h5"));
  CHECK_THROWS_AS(WriteReport({}, ""), Error);
}

TEST_CASE("A folder that cannot be written fails with its path and reason") {
  const TemporaryFolder folder;
  const fs::path dir = folder / "with space";
  Write(dir / "runs", Synthetic{});
  folder.Write("with space/file", "in the way");
  CHECK_THROWS_WITH(WriteReport({(dir / "runs").string()}, (dir / "file").string()),
                    Catch::Contains((dir / "file").string()) && Catch::Contains("cannot create"));
}

TEST_CASE("Without gnuplot the report says which package is missing") {
  const TemporaryFolder folder;
  const fs::path dir = folder / "with space";
  Write(dir / "runs", Synthetic{});
  const std::string path = std::getenv("PATH");
  setenv("PATH", dir.string().c_str(), 1);
  CHECK_THROWS_WITH(WriteReport({(dir / "runs").string()}, (dir / "out").string()),
                    Catch::Contains("gnuplot-nox"));
  setenv("PATH", path.c_str(), 1);
}

TEST_CASE("A report tells a run that trains from one that was killed") {
  const TemporaryFolder folder;
  Synthetic made;
  made.steps = 120;
  const auto notes = [&](RunStatus status) {
    made.status = status;
    fs::create_directories(folder / "run");
    WriteRun(folder / "run/run.h5", Make(made));
    return ToMarkdown(Compose(ReadStudy({folder / "run"})));
  };
  CHECK(Contains(notes(RunStatus::kRunning), "running at step 120 of 400 (but no process holds it"));
  const RunLock lock(folder / "run");
  const std::string alive = notes(RunStatus::kRunning), resumed = notes(RunStatus::kStopped);
  CHECK(Contains(alive, "running at step 120 of 400"));
  CHECK_FALSE(Contains(alive, "no process"));
  CHECK(Contains(resumed, "running at step 120 of 400"));
  CHECK(Contains(notes(RunStatus::kDone), "| done |"));
}

TEST_CASE("Hard runs are reported: all diverged, nothing trained yet, one run, one step, odd names") {
  std::vector<std::vector<Synthetic>> cases(5);
  for (const double lr : {1e-3, 1e-2}) {
    Synthetic dead{"performer", 16, lr};
    dead.death = 0;
    cases[0].push_back(dead);
    Synthetic fresh{"darkformer", 16, lr};
    fresh.steps = 0;
    fresh.status = RunStatus::kRunning;
    cases[1].push_back(fresh);
  }
  cases[2].push_back(Synthetic{});
  Synthetic brief;
  brief.steps = 1;
  cases[3].push_back(brief);
  Synthetic odd;
  odd.variant = "it's | <b>'odd'</b>\n\"x\" `y` é";
  cases[4].push_back(odd);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    INFO("case " << i);
    std::vector<AnalysedRun> runs;
    for (const Synthetic& made : cases[i]) runs.push_back(Analyse("run.h5", Make(made)));
    const Study study = Arrange(std::move(runs));
    const Document document = Compose(study);
    const std::string html = ToHtml(document), markdown = ToMarkdown(document);
    CHECK_FALSE(Contains(html, "nan"));
    CHECK_FALSE(Contains(html, "<b>'odd"));
    CHECK_FALSE(Contains(markdown, "<b>"));
    CHECK(std::count(html.begin(), html.end(), '\0') == 0);
    CHECK_FALSE(Summary(study).empty());
  }
}

TEST_CASE("A one-step spike in a long run is in the drawn figure, and the page stays small") {
  Synthetic made;
  made.steps = made.planned = 200000;
  RunData run = Make(made);
  run.steps[123456].loss = 4.25;
  std::vector<AnalysedRun> runs;
  runs.push_back(Analyse("run.h5", std::move(run)));
  const Study study = Arrange(std::move(runs));
  const auto& curve = study.runs.front().loss_curve;
  CHECK(std::count_if(curve.begin(), curve.end(),
                      [](const CurvePoint& p) { return p.y == 4.25 && p.x == 123456; }) == 1);
  CHECK(ToHtml(Compose(study)).size() < 300000);
}

TEST_CASE("The tables for programs have as many fields in every line as in the header") {
  std::vector<AnalysedRun> runs;
  for (const Synthetic& made : SyntheticSweep()) runs.push_back(Analyse("a,\"b\"/run.h5", Make(made)));
  const Study study = Arrange(std::move(runs));
  for (const std::string& table : {RunsCsv(study), EventsCsv(study), GroupsCsv(study)}) {
    std::size_t fields = 0, line = 1, first = 0;
    bool quoted = false;
    for (const char c : table) {
      if (c == '"') quoted = !quoted;
      if (c == ',' && !quoted) ++fields;
      if (c != '\n' || quoted) continue;
      if (first == 0) first = fields;
      INFO("line " << line);
      REQUIRE(fields == first);
      fields = 0;
      ++line;
    }
    CHECK(line > 10);
    CHECK_FALSE(quoted);
  }
}

}  // namespace dark::analysis
