#pragma once

#include <string>
#include <variant>
#include <vector>

namespace dark::analysis {

// A report before it has a format: plain text in blocks, so that every rendering says the same.

enum class Tone { kPlain, kGood, kWarning, kBad };

struct Heading {
  int level = 2;  ///< 2 or 3; 1 is the title
  std::string text;
};

struct Paragraph {
  std::string text;
  Tone tone = Tone::kPlain;
};

struct List {
  std::vector<std::string> items;
};

struct Cell {
  Cell(const char* words) : text(words) {}
  Cell(std::string words, Tone how = Tone::kPlain) : text(std::move(words)), tone(how) {}
  std::string text;
  Tone tone = Tone::kPlain;
};

struct Table {
  std::string caption;
  std::vector<std::string> header;
  std::vector<std::vector<Cell>> rows;  ///< each as long as the header
  bool folded = false;                  ///< shown on request where the format can
};

struct Figure {
  std::string id;       ///< unique in the document, fit for a file name
  std::string title;    ///< also the text for those who cannot see it
  std::string caption;  ///< how to read it
  std::string svg;      ///< as gnuplot wrote it
};

using Block = std::variant<Heading, Paragraph, List, Table, Figure>;

struct Document {
  std::string title;
  std::vector<Block> blocks;
};

/// One page that needs nothing else: style and figures inside, no script, nothing loaded.
std::string ToHtml(const Document& document);

/// GitHub-flavoured Markdown; figures are links to `figures/ID.svg`.
std::string ToMarkdown(const Document& document);

}  // namespace dark::analysis
