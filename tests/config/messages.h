#pragma once

#include <functional>
#include <string>

#include "core/error.h"

namespace dark {

/// The message of the Error that `action` throws, or "no error".
inline std::string MessageOf(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace dark
