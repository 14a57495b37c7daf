#include "experiments/config/brace_patterns.h"

#include <algorithm>
#include <cctype>
#include <cstring>

namespace dark {
namespace {

bool IsName(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || (c != '\0' && std::strchr("_.*-", c));
}

// Length of a pattern that starts at `at` and has at least one {…} of names and commas, else 0.
std::size_t PatternLength(const std::string& text, std::size_t at) {
  std::size_t end = at;
  bool braces = false;
  while (end < text.size() && (IsName(text[end]) || (end > at && text[end] == '{'))) {
    if (text[end] == '{') {
      const std::size_t inside = end + 1;
      end = inside;
      while (end < text.size() && (IsName(text[end]) || text[end] == ',')) ++end;
      if (end == text.size() || text[end] != '}' || end == inside) return 0;
      braces = true;
    }
    ++end;
  }
  return braces ? end - at : 0;
}

// Where the quoted text that starts at `at` ends (one past its closing quote, or the end of the text).
std::size_t QuotedEnd(const std::string& text, std::size_t at) {
  const char quote = text[at];
  for (std::size_t i = at + 1; i < text.size(); ++i) {
    if (text[i] == '\\' && quote == '"')
      ++i;
    else if (text[i] == quote)
      return i + 1;
  }
  return text.size();
}

}  // namespace

BracePatterns::BracePatterns(const std::string& yaml) {
  int line = 0;
  std::size_t line_start = 0;
  const auto quote = [&] {
    inserted_[line].push_back(static_cast<int>(quoted_.size() - line_start));
    quoted_ += '\'';
  };
  for (std::size_t i = 0; i < yaml.size();) {
    const char before = i == 0 ? '\n' : yaml[i - 1];
    const bool starts_token = std::strchr(" \t\n[{,", before) != nullptr;
    std::size_t length = 1;
    bool pattern = false;
    if (starts_token && yaml[i] == '#') {
      length = std::min(yaml.find('\n', i), yaml.size()) - i;
    } else if (starts_token && (yaml[i] == '\'' || yaml[i] == '"')) {
      length = QuotedEnd(yaml, i) - i;
    } else if (starts_token) {
      pattern = PatternLength(yaml, i) > 0;
      length = std::max<std::size_t>(1, PatternLength(yaml, i));
    }
    if (pattern) quote();
    for (std::size_t end = i + length; i < end; ++i) {
      quoted_ += yaml[i];
      if (yaml[i] != '\n') continue;
      ++line;
      line_start = quoted_.size();
    }
    if (pattern) quote();
  }
}

int BracePatterns::OriginalColumn(int line, int column) const {
  const auto found = inserted_.find(line);
  if (found == inserted_.end()) return column;
  return column - static_cast<int>(std::count_if(found->second.begin(), found->second.end(),
                                                 [&](int quote) { return quote < column; }));
}

}  // namespace dark
