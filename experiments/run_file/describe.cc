#include "experiments/run_file/describe.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>

#include "core/error.h"
#include "core/setting.h"
#include "experiments/run_file/columns.h"

namespace dark {
namespace {

constexpr const char* kOrigin[] = {"config_hash", "seed",    "parameters",   "vocab",  "data_hash",
                                   "split_hash",  "started", "finished",     "host",   "cpu",
                                   "threads",     "build",   "git_revision", "version"};
constexpr const char* kHighlights[] = {"attention.variant", "attention.m", "optim.lr",      "optim.schedule",
                                       "train.steps",       "train.batch", "train.context", "train.precision",
                                       "model.layers",      "model.width", "model.heads",   "data.text"};

std::string Attribute(const RunData& run, const std::string& name) {
  const auto found = run.attributes.find(name);
  return found == run.attributes.end() ? "" : found->second;
}

std::string Line(const std::string& name, const std::string& value) {
  return value.empty() ? "" : fmt::format("{:<13} {}\n", name, value);
}

/// A cell of a CSV or of a table for people. fmt prints the shortest text that reads back as the same number,
/// in any locale.
template <class Row>
std::string Cell(const Row& row, const Column<Row>& column, bool exact) {
  return std::visit(
      [&](auto member) {
        const auto value = row.*member;
        if constexpr (std::is_floating_point_v<std::decay_t<decltype(value)>>)
          return exact ? fmt::format("{}", value) : fmt::format("{:.5g}", value);
        else if constexpr (std::is_unsigned_v<std::decay_t<decltype(value)>>)
          return exact ? fmt::format("{}", value) : fmt::format("{:016x}", value);
        else
          return fmt::format("{}", value);
      },
      column.member);
}

/// Columns as wide as their widest cell, numbers to the right.
template <class Row>
std::string TextTable(const std::vector<Row>& rows, std::size_t first) {
  const std::vector<Column<Row>>& columns = TableOf<Row>().columns;
  std::vector<std::vector<std::string>> lines(1);
  for (const auto& column : columns) lines[0].push_back(column.name);
  for (std::size_t i = first; i < rows.size(); ++i) {
    lines.emplace_back();
    for (const auto& column : columns) lines.back().push_back(Cell(rows[i], column, false));
  }
  std::string text;
  std::vector<std::size_t> widths(columns.size());
  for (const auto& line : lines)
    for (std::size_t c = 0; c < columns.size(); ++c) widths[c] = std::max(widths[c], line[c].size());
  for (const auto& line : lines) {
    for (std::size_t c = 0; c < columns.size(); ++c) text += fmt::format("  {:>{}}", line[c], widths[c]);
    text += '\n';
  }
  return text;
}

std::string Progress(const RunData& run) {
  const std::size_t planned = std::strtoull(run.Config("train.steps").c_str(), nullptr, 10);
  std::string text =
      planned == 0 ? fmt::format("{}", run.steps.size()) : fmt::format("{} of {}", run.steps.size(), planned);
  if (run.steps.empty()) return text;
  double seconds = 0;
  std::int64_t tokens = 0;
  std::size_t not_finite = 0;
  for (const StepRow& row : run.steps) {
    seconds += row.seconds;
    tokens += row.tokens;
    not_finite += !std::isfinite(row.loss);
  }
  text += fmt::format(", last loss {:.5g}, {} tokens in {:.4g} s", run.steps.back().loss, tokens, seconds);
  if (seconds > 0) text += fmt::format(" ({:.4g} tokens/s)", static_cast<double>(tokens) / seconds);
  if (not_finite > 0) text += fmt::format(", {} losses not finite", not_finite);
  return text;
}

std::string Status(const RunData& run) {
  std::string text = Attribute(run, "status");
  if (const std::string reason = Attribute(run, "exit_reason"); !reason.empty())
    text += fmt::format(": {}", reason);
  if (const std::string step = Attribute(run, "bad_step"); !step.empty())
    text += fmt::format(" (step {}, first bad tensor '{}')", step, Attribute(run, "bad_tensor"));
  return text;
}

std::string Highlights(const RunData& run) {
  std::string text;
  for (const char* key : kHighlights)
    if (const std::string value = run.Config(key); !value.empty())
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", key, value);
  return text;
}

/// Rows of the last measurement: all layers at one step.
std::size_t LastMeasurement(const std::vector<HealthRow>& rows) {
  std::size_t first = rows.size();
  while (first > 0 && rows[first - 1].step == rows.back().step) --first;
  return first;
}

}  // namespace

std::string DescribeRun(const RunData& run, std::size_t rows) {
  std::string text = Line("run", Attribute(run, "name"));
  text += Line("status", Status(run));
  text += Line("steps", Progress(run));
  text += Line("config", Highlights(run));
  for (const char* name : kOrigin) text += Line(name, Attribute(run, name));
  text += Line("bytes lost", Attribute(run, "journal_bytes_lost"));
  const auto last = [&](const auto& all) { return all.size() - std::min(rows, all.size()); };
  const auto section = [&](const std::string& title, const auto& all, std::size_t first) {
    if (first < all.size())
      text += fmt::format("\n{} ({} of {} rows)\n{}", title, all.size() - first, all.size(),
                          TextTable(all, first));
  };
  section("last steps", run.steps, last(run.steps));
  section("last evaluations", run.evals, last(run.evals));
  section("health at the last measurement", run.health, LastMeasurement(run.health));
  return text;
}

std::string TableCsv(const RunData& run, const std::string& name) {
  std::string text;
  std::vector<std::string> names;
  ForEachTable([&](const auto& table) {
    names.push_back(table.group);
    if (name != table.group) return;
    for (const auto& column : table.columns)
      text += fmt::format("{}{}", text.empty() ? "" : ",", column.name);
    text += '\n';
    for (const auto& row : run.*table.rows) {
      for (const auto& column : table.columns)
        text += fmt::format("{}{}", &column == table.columns.data() ? "" : ",", Cell(row, column, true));
      text += '\n';
    }
  });
  if (!text.empty()) return text;
  const std::string nearest = NearestName(name, names);
  throw Error(fmt::format("no table '{}'; tables are {}, {}, {}{}", name, names[0], names[1], names[2],
                          nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest)));
}

std::string SchemaMarkdown() {
  std::string text;
  ForEachTable([&]<class Row>(const Table<Row>& table) {
    text += fmt::format("### /{}: {}\n\n| column | type | unit | meaning |\n| --- | --- | --- | --- |\n",
                        table.group, table.help);
    for (const auto& column : table.columns) {
      constexpr const char* kTypes[] = {"float64", "int64", "uint64"};  // as in Column::member
      text += fmt::format("| `{}` | {} | {} | {} |\n", column.name, kTypes[column.member.index()],
                          column.unit, column.help);
    }
    text += '\n';
  });
  return text;
}

}  // namespace dark
