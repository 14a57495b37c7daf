#include "analysis/csv.h"

#include <fmt/format.h>

#include <cmath>

#include "analysis/comparison.h"

namespace dark::analysis {
namespace {

class Row {
 public:
  Row& operator<<(const std::string& text) {
    if (!line_.empty()) line_ += ',';
    if (text.find_first_of(",\"\n\r") == std::string::npos) {
      line_ += text;
    } else {
      line_ += '"';
      for (const char c : text) line_ += c == '"' ? std::string("\"\"") : std::string(1, c);
      line_ += '"';
    }
    return *this;
  }
  Row& operator<<(const char* text) { return *this << std::string(text); }
  template <class Number>
  requires std::is_arithmetic_v<Number> Row& operator<<(Number number) {
    return *this << fmt::format("{}", number);
  }
  template <class T>
  Row& operator<<(const std::optional<T>& value) {
    return value ? *this << *value : *this << "";
  }
  Row& operator<<(const Estimate& e) {
    if (e.n == 0)
      return *this << 0 << ""
                   << ""
                   << "";
    *this << e.n << e.mean;
    return e.n < 2 ? *this << ""
                           << ""
                   : *this << e.sd << e.half;
  }
  operator std::string() const { return line_ + "\n"; }

 private:
  std::string line_;
};

// What a run does not have is NaN in memory, and nothing in the file.
std::optional<double> IfAny(double value, bool exists) {
  return exists ? std::optional<double>(value) : std::nullopt;
}

template <class Visit>
void EachRun(const Study& study, const Visit& visit) {
  for (const Section& section : study.sections)
    for (const Arm& arm : section.arms)
      for (const Group& group : arm.groups)
        for (const AnalysedRun* run : group.runs) visit(section, arm, *run);
}

void AddSpikes(Row& row, const std::vector<SeriesSpikes>& series) {
  row << series.front().detection.non_finite;
  for (const SeriesSpikes& spikes : series)
    row << spikes.detection.points.size() << spikes.detection.eligible << spikes.detection.Score();
}

std::string Answer(const Divergence& rule) {
  switch (rule.answer) {
    case Divergence::Answer::kYes:
      return "yes";
    case Divergence::Answer::kNo:
      return "no";
    case Divergence::Answer::kNotComputable:
      break;
  }
  return "";
}

}  // namespace

std::string RunsCsv(const Study& study) {
  std::string out =
      "path,name,config_hash,split_hash,arm,variant,m,lr,seed,status,diverged,steps_done,steps_planned,"
      "tokens,seconds,"
      "initial_loss,final_loss,final_accuracy";
  for (const char* series : {"loss", "grad"}) {
    out += fmt::format(",{}_non_finite", series);
    for (const Rule& rule : StandardRules())
      for (const char* what : {"points", "eligible", "score"})
        out += fmt::format(",{}_{}_{}", series, rule.name, what);
  }
  out += ",d0,d0_step,d1,d2,d2_step,d3,d3_step\n";
  EachRun(study, [&](const Section& section, const Arm& arm, const AnalysedRun& run) {
    Row row;
    const auto& evals = run.data.evals;
    const bool started = !evals.empty() && evals.front().step == 0,
               ended = !evals.empty() && evals.back().step > 0;
    row << run.path << run.name << run.Attribute("config_hash") << section.split_hash << arm.label
        << run.variant << run.m << run.lr << run.seed << dark::Name(run.status)
        << (run.diverged() ? "yes" : "no") << run.steps_done << run.steps_planned << run.tokens << run.seconds
        << IfAny(run.initial_loss, started) << IfAny(run.final_loss, ended)
        << IfAny(run.final_accuracy, ended);
    AddSpikes(row, run.loss);
    AddSpikes(row, run.grad);
    for (const Divergence& rule : run.divergence) {
      row << Answer(rule);
      if (rule.rule != "D1") row << rule.step;
    }
    out += row;
  });
  return out;
}

std::string EventsCsv(const Study& study) {
  std::string out =
      "path,arm,lr,seed,series,rule,start,end,peak,rise,baseline,height,relative,duration,recovery,lost\n";
  EachRun(study, [&](const Section&, const Arm& arm, const AnalysedRun& run) {
    for (const auto& [name, series] : {std::pair("loss", &run.loss), std::pair("gradient", &run.grad)})
      for (const SeriesSpikes& spikes : *series)
        for (const Event& e : spikes.events) {
          Row row;
          row << run.path << arm.label << run.lr << run.seed << name << spikes.detection.rule.name << e.start
              << e.end << e.peak << (e.rise ? "yes" : "no") << e.baseline << e.height << e.relative
              << e.duration() << e.recovery << e.lost;
          out += row;
        }
  });
  return out;
}

std::string GroupsCsv(const Study& study) {
  std::string out =
      "split_hash,arm,variant,m,lr,runs,diverged,unfinished,loss_n,loss_mean,loss_sd,loss_half,accuracy_n,"
      "accuracy_mean,accuracy_sd,accuracy_half,s_n,s_mean,s_low,s_high\n";
  for (const Section& section : study.sections)
    for (const Arm& arm : section.arms)
      for (const Group& group : arm.groups) {
        Row row;
        const LrSensitivity& s = arm.sensitivity;
        row << section.split_hash << arm.label << arm.variant << arm.m << group.lr << group.runs.size()
            << group.diverged() << group.unjudged() << EstimateMean(group.Counted(&AnalysedRun::final_loss))
            << EstimateMean(group.Counted(&AnalysedRun::final_accuracy)) << s.per_seed.size() << s.mean()
            << (s.interval ? std::optional(s.interval->low) : std::nullopt)
            << (s.interval ? std::optional(s.interval->high) : std::nullopt);
        out += row;
      }
  return out;
}

}  // namespace dark::analysis
