#pragma once

#include <map>
#include <string>
#include <vector>

namespace dark {

/// YAML in which name patterns such as attn.{q,k,v} stand in quotes. Inside brackets a plain YAML text ends
/// at a brace, so `trainable: [attn.{q,k,v}, attn.M]`, the way people write it, would not parse.
class BracePatterns {
 public:
  explicit BracePatterns(const std::string& yaml);

  const std::string& quoted() const { return quoted_; }
  /// Column in the text as it was written, of a column in `quoted` (both from 0).
  int OriginalColumn(int line, int column) const;

 private:
  std::string quoted_;
  std::map<int, std::vector<int>> inserted_;  // by line: columns of the quotes in `quoted`
};

}  // namespace dark
