#pragma once

#include <string>
#include <vector>

#include "analysis/study.h"

namespace dark::analysis {

/// A claim of the DARKFormer paper held against our runs.
struct Claim {
  enum class Answer { kShown, kNotShown, kNotComputable };
  std::string statement;
  Answer answer = Answer::kNotComputable;
  std::vector<std::string> evidence;  ///< the paired numbers with n, or why there are none
};

/// "Shown", "Not shown", "Not computable from these runs".
const char* Name(Claim::Answer answer);

/// A claim is shown when, in every comparison that can be made, the 95 % interval of the difference paired by
/// seed lies on the claimed side; not computable when no comparison has two seeds. Arms meet each at its own
/// best learning rate, so that no variant is judged at a rate that suits only the other.
std::vector<Claim> JudgeClaims(const Section& section);

}  // namespace dark::analysis
