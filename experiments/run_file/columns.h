#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "experiments/run_file/run_data.h"

namespace dark {

/// One column of a table of a run. HDF5 writer and reader, CSV, `inspect` and the page of the schema all read
/// these declarations and nothing else, so a new column is one member and one line.
template <class Row>
struct Column {
  const char* name;  ///< the member's name
  const char* unit;
  const char* help;
  std::variant<double Row::*, std::int64_t Row::*, std::uint64_t Row::*> member;
};

/// One table of a run. The columns stand in the order of the members: the journal stores rows as they lie in
/// memory.
template <class Row>
struct Table {
  const char* group;  ///< HDF5 group, one dataset a column
  const char* help;
  std::uint32_t record;  ///< type of its rows in the journal, never used again for anything else
  std::vector<Row> RunData::*rows;
  std::vector<Column<Row>> columns;
};

/// Defined for StepRow, EvalRow and HealthRow.
template <class Row>
const Table<Row>& TableOf();
template <>
const Table<StepRow>& TableOf<StepRow>();
template <>
const Table<EvalRow>& TableOf<EvalRow>();
template <>
const Table<HealthRow>& TableOf<HealthRow>();

template <class Visit>
void ForEachTable(Visit&& visit) {
  visit(TableOf<StepRow>());
  visit(TableOf<EvalRow>());
  visit(TableOf<HealthRow>());
}

}  // namespace dark
