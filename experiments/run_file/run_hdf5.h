#pragma once

#include <string>

#include "experiments/run_file/run_data.h"

namespace dark {

/// Reads RUN.h5 alone, whatever journal stands beside it. See ReadRun and WriteRun for everything else.
RunData ReadRunHdf5(const std::string& path);

}  // namespace dark
