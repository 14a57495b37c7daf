#include "analysis/analysed_run.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <span>

namespace dark::analysis {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t kCurveBuckets = 300;  // about one a pixel of a panel
constexpr std::size_t kTrendBuckets = 60;

template <class T>
std::optional<T> ToNumber(const std::string& text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::vector<double> Column(const std::vector<StepRow>& rows, double StepRow::*column) {
  std::vector<double> values;
  values.reserve(rows.size());
  for (const StepRow& row : rows) values.push_back(row.*column);
  return values;
}

std::vector<SeriesSpikes> Spikes(std::span<const double> series) {
  std::vector<SeriesSpikes> spikes;
  for (const Rule& rule : StandardRules()) {
    Detection detection = Detect(series, rule);
    std::vector<Event> events = MergeEvents(series, detection);
    spikes.push_back({std::move(detection), std::move(events)});
  }
  return spikes;
}

void Identify(AnalysedRun& run) {
  run.status = run.data.status();
  run.name = run.Attribute("name");
  run.variant = run.data.Config("attention.variant");
  run.m = ToNumber<std::int64_t>(run.data.Config("attention.m"));
  run.seed = ToNumber<std::int64_t>(run.data.Config("seed")).value_or(0);
  run.lr = ToNumber<double>(run.data.Config("optim.lr")).value_or(kNone);
  run.steps_planned = ToNumber<std::int64_t>(run.data.Config("train.steps")).value_or(0);
}

void Evaluate(AnalysedRun& run) {
  const std::vector<EvalRow>& evals = run.data.evals;
  const bool has_initial = !evals.empty() && evals.front().step == 0;
  const bool has_final = !evals.empty() && evals.back().step > 0;
  run.initial_loss = has_initial ? evals.front().loss : kNone;
  run.final_loss = has_final ? evals.back().loss : kNone;
  run.final_accuracy = has_final ? evals.back().accuracy : kNone;
}

}  // namespace

bool AnalysedRun::diverged() const {
  for (const Divergence& rule : divergence)
    if (rule.answer == Divergence::Answer::kYes &&
        (rule.rule == "D0" || (rule.rule == "D1" && status == RunStatus::kDone)))
      return true;
  return false;
}

bool AnalysedRun::counted() const {
  return status == RunStatus::kDone && !diverged() && std::isfinite(final_loss);
}

std::string AnalysedRun::Attribute(const std::string& key) const {
  const auto found = data.attributes.find(key);
  return found == data.attributes.end() ? "" : found->second;
}

AnalysedRun Analyse(const std::string& path, RunData data) {
  AnalysedRun run;
  run.path = path;
  run.data = std::move(data);
  Identify(run);
  Evaluate(run);
  const std::vector<StepRow>& rows = run.data.steps;
  std::vector<double> at;
  for (const StepRow& row : rows) {
    at.push_back(static_cast<double>(row.step));
    run.tokens += row.tokens;
    run.seconds += row.seconds;
  }
  run.steps_done = rows.empty() ? 0 : rows.back().step + 1;
  const std::vector<double> loss = Column(rows, &StepRow::loss);
  const std::vector<double> grad = Column(rows, &StepRow::grad_norm);
  run.loss = Spikes(loss);
  run.grad = Spikes(grad);
  // D3 asks the robust rule: its window is the shortest and a spike in it does not hide the next one.
  run.divergence = CheckDivergence(run.data, run.loss.back().events);
  run.loss_curve = Decimate(at, loss, kCurveBuckets);
  run.loss_trend = BucketMeans(at, loss, kTrendBuckets);
  run.grad_curve = Decimate(at, grad, kCurveBuckets);
  run.grad_trend = BucketMeans(at, grad, kTrendBuckets);
  run.data.steps = {};
  return run;
}

}  // namespace dark::analysis
