#pragma once

#include "core/setting.h"

namespace dark {

/// `count` filled up to whole units: the smallest multiple of `unit` that is not below it.
constexpr Index RoundUp(Index count, Index unit) { return (count + unit - 1) / unit * unit; }

}  // namespace dark
