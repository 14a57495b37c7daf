#include <fmt/format.h>

#include "analysis/document.h"

namespace dark::analysis {
namespace {

// Config values and paths may hold anything, also what Markdown would take for markup.
std::string Escape(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\n' || c == '\r') {
      out += ' ';
      continue;
    }
    if (std::string_view("\\`*_|<>[]#~").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

std::string Row(const std::vector<std::string>& cells) {
  return fmt::format("| {} |\n", fmt::join(cells, " | "));
}

struct Writer {
  std::string out;

  void operator()(const Heading& heading) {
    out += fmt::format("{} {}\n\n", std::string(heading.level, '#'), Escape(heading.text));
  }
  void operator()(const Paragraph& paragraph) {
    const char* mark = paragraph.tone == Tone::kPlain || paragraph.tone == Tone::kGood ? "" : "> **Note:** ";
    out += fmt::format("{}{}\n\n", mark, Escape(paragraph.text));
  }
  void operator()(const List& list) {
    for (const std::string& item : list.items) out += fmt::format("- {}\n", Escape(item));
    out += "\n";
  }
  void operator()(const Table& table) {
    if (!table.caption.empty()) out += fmt::format("*{}*\n\n", Escape(table.caption));
    std::vector<std::string> cells;
    for (const std::string& name : table.header) cells.push_back(Escape(name));
    out += Row(cells);
    out += Row(std::vector<std::string>(table.header.size(), "---"));
    for (const std::vector<Cell>& row : table.rows) {
      cells.clear();
      for (const Cell& cell : row) cells.push_back(Escape(cell.text));
      out += Row(cells);
    }
    out += "\n";
  }
  void operator()(const Figure& figure) {
    out += fmt::format("![{}](figures/{}.svg)\n\n*{}: {}*\n\n", Escape(figure.title), figure.id,
                       Escape(figure.title), Escape(figure.caption));
  }
};

}  // namespace

std::string ToMarkdown(const Document& document) {
  Writer writer;
  writer.out = fmt::format("# {}\n\n", Escape(document.title));
  for (const Block& block : document.blocks) std::visit(writer, block);
  return writer.out;
}

}  // namespace dark::analysis
