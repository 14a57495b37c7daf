#include "core/optim/patterns.h"

#include <algorithm>
#include <string_view>

namespace dark {
namespace {

// "a{b,c}d" → {"abd", "acd"}; nested and repeated braces expand too.
std::vector<std::string> ExpandBraces(const std::string& pattern) {
  const std::size_t close = pattern.find('}');
  const std::size_t open = close == std::string::npos ? std::string::npos : pattern.rfind('{', close);
  if (open == std::string::npos) return {pattern};
  std::vector<std::string> expanded;
  std::size_t begin = open + 1;
  while (begin <= close) {
    const std::size_t end = std::min(pattern.find(',', begin), close);
    const std::string one =
        pattern.substr(0, open) + pattern.substr(begin, end - begin) + pattern.substr(close + 1);
    for (std::string& text : ExpandBraces(one)) expanded.push_back(std::move(text));
    begin = end + 1;
  }
  return expanded;
}

bool MatchesStar(std::string_view pattern, std::string_view text) {
  if (pattern.empty()) return text.empty();
  if (pattern[0] == '*') {
    for (std::size_t skip = 0; skip <= text.size(); ++skip) {
      if (MatchesStar(pattern.substr(1), text.substr(skip))) return true;
    }
    return false;
  }
  return !text.empty() && text[0] == pattern[0] && MatchesStar(pattern.substr(1), text.substr(1));
}

// Every run of dotted parts: starts are after a dot or at 0, ends before a dot or at the end.
bool MatchesParts(const std::string& pattern, const std::string& name) {
  for (std::size_t begin = 0; begin != std::string::npos;) {
    for (std::size_t end = name.find('.', begin);; end = name.find('.', end + 1)) {
      const std::size_t stop = std::min(end, name.size());
      if (MatchesStar(pattern, std::string_view(name).substr(begin, stop - begin))) return true;
      if (end == std::string::npos) break;
    }
    const std::size_t dot = name.find('.', begin);
    begin = dot == std::string::npos ? dot : dot + 1;
  }
  return false;
}

}  // namespace

bool MatchesName(const std::string& pattern, const std::string& name) {
  const std::vector<std::string> all = ExpandBraces(pattern);
  return std::any_of(all.begin(), all.end(), [&](const std::string& one) { return MatchesParts(one, name); });
}

bool MatchesAny(const std::vector<std::string>& patterns, const std::string& name) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [&](const std::string& p) { return MatchesName(p, name); });
}

}  // namespace dark
