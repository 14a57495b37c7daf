#include "analysis/study.h"

#include <catch2/catch.hpp>

#include "analysis/claims.h"
#include "analysis/compose.h"
#include "analysis/health.h"
#include "tests/analysis/synthetic.h"

namespace dark::analysis {
namespace {

Study StudyOf(const std::vector<Synthetic>& sweep) {
  std::vector<AnalysedRun> runs;
  for (const Synthetic& made : sweep) runs.push_back(Analyse(NameOf(made) + "/run.h5", Make(made)));
  return Arrange(std::move(runs));
}

std::string MarkdownOf(const Study& study) { return ToMarkdown(Compose(study)); }

bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// Four seeds of darkformer and performer at two m, and exact; `dark` and `performer` are losses to reach.
std::vector<Synthetic> Duel(double dark, double performer, int seeds = 4) {
  std::vector<Synthetic> sweep;
  for (int seed = 1; seed <= seeds; ++seed)
    for (const double lr : {1e-3, 3e-3, 1e-2}) {
      const double off = lr == 3e-3 ? 0 : 1, jitter = 0.005 * (seed % 3);
      sweep.push_back({"exact", 0, lr, seed});
      for (const std::int64_t m : {16, 64}) {
        sweep.push_back({"darkformer", m, lr, seed});
        sweep.back().floor = dark + 0.1 * off + (m == 16 ? 0.02 : 0) + jitter;
        sweep.push_back({"performer", m, lr, seed});
        sweep.back().floor = performer + 0.3 * off + (m == 16 ? 0.2 : 0);
      }
    }
  return sweep;
}

}  // namespace

TEST_CASE("Runs are grouped by everything but the seed") {
  const Study study = StudyOf(SyntheticSweep());
  REQUIRE(study.sections.size() == 1);
  const Section& section = study.sections[0];
  REQUIRE(section.arms.size() == 6);
  CHECK(section.arms.front().label == "exact");
  CHECK(section.arms[1].label == "darkformer m=16");
  CHECK(section.arms[2].label == "darkformer m=64");
  CHECK(section.arms.back().label == "uniform");
  for (const Arm& arm : section.arms) {
    REQUIRE(arm.groups.size() == 3);
    for (const Group& group : arm.groups) CHECK(group.runs.size() == 2);
  }
  CHECK(section.missing.empty());
}

TEST_CASE("Any setting that differs makes an arm of its own and enters its name") {
  std::vector<AnalysedRun> runs;
  for (const char* draws : {"iid", "orthogonal"}) {
    RunData run = Make({"performer", 16});
    run.attributes["config.attention.draws"] = draws;
    run.attributes["config_hash"] += draws;
    runs.push_back(Analyse(draws, std::move(run)));
  }
  const Study study = Arrange(std::move(runs));
  REQUIRE(study.sections[0].arms.size() == 2);
  CHECK(study.sections[0].arms[0].label == "performer m=16 draws=iid");
  CHECK(study.sections[0].arms[1].label == "performer m=16 draws=orthogonal");
}

TEST_CASE("A diverged run is counted, never averaged") {
  std::vector<Synthetic> sweep(3);
  for (int i = 0; i < 3; ++i) sweep[i].seed = i + 1;
  sweep[1].death = 100;
  const Study study = StudyOf(sweep);
  const Group& group = study.sections[0].arms[0].groups[0];
  CHECK(group.diverged() == 1);
  CHECK(group.Counted(&AnalysedRun::final_loss).size() == 2);
  CHECK(study.runs[1].divergence[0].step == std::optional<std::int64_t>(100));
}

TEST_CASE("A run that learnt nothing has diverged although it is finite") {
  Synthetic made;
  made.floor = made.initial + 0.5;
  const Study study = StudyOf({made});
  CHECK(study.runs[0].diverged());
  CHECK_FALSE(study.runs[0].counted());
}

TEST_CASE("A run that still trains is neither averaged nor diverged") {
  Synthetic made;
  made.status = RunStatus::kRunning;
  made.steps = 120;
  const Study study = StudyOf({made});
  CHECK_FALSE(study.runs[0].judged());
  CHECK(study.sections[0].arms[0].groups[0].unjudged() == 1);
  CHECK(Contains(MarkdownOf(study), "running at step 120 of 400"));
}

TEST_CASE("Runs validated on different splits are never compared") {
  std::vector<Synthetic> sweep = {{"darkformer", 16}, {"performer", 16}};
  sweep[1].split_hash = "other";
  const Study study = StudyOf(sweep);
  REQUIRE(study.sections.size() == 2);
  CHECK(study.sections[0].arms.size() == 1);
  const std::string markdown = MarkdownOf(study);
  CHECK(Contains(markdown, "cannot be compared"));
  CHECK(Contains(Summary(study), "split other"));
}

TEST_CASE("A trial found twice counts once") {
  std::vector<AnalysedRun> runs;
  Synthetic partial;
  partial.steps = 200;
  runs.push_back(Analyse("a/run.h5", Make(partial)));
  runs.push_back(Analyse("b/run.h5", Make({})));
  const Study study = Arrange(std::move(runs));
  REQUIRE(study.runs.size() == 1);
  CHECK(study.runs[0].path == "b/run.h5");
  CHECK(study.duplicates.size() == 1);
}

TEST_CASE("Missing runs of the grid are named") {
  std::vector<Synthetic> sweep = SyntheticSweep();
  sweep.erase(sweep.begin() + 7);
  const Study study = StudyOf(sweep);
  REQUIRE(study.sections[0].missing.size() == 1);
  CHECK(Contains(study.sections[0].missing[0], "darkformer m=16 at lr 0.001: no run with seed 2"));
}

TEST_CASE("A clear advantage is shown, its reverse and a tie are not") {
  for (const auto& [dark, performer, shown] : {std::tuple(1.8, 2.2, true), std::tuple(2.2, 1.8, false)}) {
    const Study study = StudyOf(Duel(dark, performer));
    const std::vector<Claim> claims = JudgeClaims(study.sections[0]);
    REQUIRE(claims.size() == 4);
    INFO(dark << " against " << performer);
    for (const std::size_t i : {0u, 1u})
      CHECK(claims[i].answer == (shown ? Claim::Answer::kShown : Claim::Answer::kNotShown));
    // Width over learning rates and loss at small m favour darkformer in both duels.
    CHECK(claims[2].answer == Claim::Answer::kShown);
    CHECK(claims[3].answer == Claim::Answer::kShown);
    for (const Claim& claim : claims) CHECK(Contains(claim.evidence.front(), "(n=4)"));
  }
}

TEST_CASE("With one seed no claim is computable") {
  const Study study = StudyOf(Duel(1.8, 2.2, 1));
  for (const Claim& claim : JudgeClaims(study.sections[0])) {
    CHECK(claim.answer == Claim::Answer::kNotComputable);
    CHECK_FALSE(claim.evidence.empty());
  }
}

TEST_CASE("Without performer no claim is computable and the reason is given") {
  const Study study = StudyOf({{"darkformer", 16}, {"exact"}});
  for (const Claim& claim : JudgeClaims(study.sections[0])) {
    CHECK(claim.answer == Claim::Answer::kNotComputable);
    REQUIRE(claim.evidence.size() == 1);
  }
}

TEST_CASE("Runs too short for a rule have no count of spikes, and runs of two commits are told") {
  Synthetic brief;
  brief.steps = brief.planned = 100;
  std::vector<AnalysedRun> runs;
  runs.push_back(Analyse("a", Make(brief)));
  brief.seed = 2;
  RunData other = Make(brief);
  other.attributes["git_revision"] = "fedc";
  runs.push_back(Analyse("b", std::move(other)));
  const std::string markdown = MarkdownOf(Arrange(std::move(runs)));
  CHECK(Contains(markdown, "not computable: 128-step window, 100 steps"));
  CHECK_FALSE(Contains(markdown, "marks no spike"));
  CHECK(Contains(markdown, "2 commits"));
}

TEST_CASE("When the floor is as good as the ceiling the verdict says so") {
  for (const double floor : {2.0, 2.5}) {
    std::vector<Synthetic> sweep;
    for (const std::int64_t seed : {1, 2, 3}) {
      sweep.push_back({"exact", 0, 1e-3, seed});
      sweep.push_back({"uniform", 0, 1e-3, seed});
      sweep.back().floor = floor + 0.02 * static_cast<double>(seed % 2);
    }
    CHECK(Contains(MarkdownOf(StudyOf(sweep)), "cannot tell attention variants apart") == (floor == 2.0));
  }
}

TEST_CASE("Large norms are warned of for random features only") {
  Synthetic loud{"performer", 16};
  loud.mx2 = 2.5;
  CHECK(Contains(MarkdownOf(StudyOf({loud})), "rose above 2"));
  loud.mx2 = 1.9;
  CHECK_FALSE(Contains(MarkdownOf(StudyOf({loud})), "rose above 2"));
}

}  // namespace dark::analysis
