#pragma once

#include <string>
#include <vector>

namespace dark {

/// A column of a text table.
struct Column {
  std::string title;
  bool right = false;  ///< numbers stand to the right
  int drop = 0;        ///< when the width is short, the column with the highest number leaves first; 0 stays
};

/// The lines of an aligned table with its titles, none longer than `width` (0 = any). Columns leave by their
/// `drop`; then the first column is shortened in the middle, because names differ at their ends. Texts are
/// ASCII.
std::vector<std::string> FormatTable(const std::vector<Column>& columns,
                                     const std::vector<std::vector<std::string>>& rows,
                                     std::size_t width = 0);

/// `text` in at most `width` characters, ".." in the middle standing for what is left out.
std::string Shorten(const std::string& text, std::size_t width);

/// "2.3 GB" (powers of 1000), "1h 05m", "12.4 s", "1.2M": for people, not for programs.
std::string HumanBytes(double bytes);
std::string HumanSeconds(double seconds);
std::string HumanCount(double count);

}  // namespace dark
