#pragma once

#include <string>

#include "analysis/document.h"
#include "analysis/study.h"

namespace dark::analysis {

/// The whole report; draws the figures.
Document Compose(const Study& study);

/// The report in at most 15 lines for a terminal.
std::string Summary(const Study& study);

}  // namespace dark::analysis
