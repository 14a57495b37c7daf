#pragma once

#include <string>

#include "experiments/run_file/run_data.h"

namespace dark {

/// What a run is and how it went, for people: status, config, last steps (at most `rows`), evaluations,
/// health of the last measurement, origin. Lines of at most 110 columns where the values allow it.
std::string DescribeRun(const RunData& run, std::size_t rows);

/// One table as CSV with a header line; numbers by shortest round trip. `name` is steps, eval or health;
/// throws Error(kUsage) for another name.
std::string TableCsv(const RunData& run, const std::string& name);

/// The tables and columns of the run file in Markdown, as docs/run-file.md shows them.
std::string SchemaMarkdown();

}  // namespace dark
