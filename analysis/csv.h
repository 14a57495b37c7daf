#pragma once

#include <string>

#include "analysis/study.h"

namespace dark::analysis {

// Tables for other programs: one header line, numbers by shortest round trip, an empty field for what does
// not exist, "nan" and "inf" for what a run produced.

std::string RunsCsv(const Study& study);    ///< one line a run
std::string EventsCsv(const Study& study);  ///< one line an event of every rule and series
std::string GroupsCsv(const Study& study);  ///< one line an arm and learning rate

}  // namespace dark::analysis
