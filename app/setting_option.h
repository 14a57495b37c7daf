#pragma once

#include <CLI/CLI.hpp>

#include "core/setting.h"

namespace dark {

/// Adds `--name VALUE` for a setting (underscores become dashes) with its help, default and range or choices,
/// all from the declaration. A value that is not allowed is refused when the command line is parsed. The
/// setting's target must live until then.
CLI::Option* AddSettingOption(CLI::App& app, const Setting& setting);

}  // namespace dark
