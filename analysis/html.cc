#include <fmt/format.h>

#include "analysis/document.h"
#include "analysis/gnuplot.h"

namespace dark::analysis {
namespace {

constexpr const char* kStyle = R"(
:root { color-scheme: light dark; --ink: #1f2328; --soft: #59636e; --line: #d1d9e0; --paper: #ffffff;
  --shade: #f6f8fa; --good: #dafbe1; --warning: #fff3c4; --bad: #ffdcd7; --link: #0a58ca; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --soft: #9da7b3; --line: #3d444d;
  --paper: #0d1117; --shade: #161b22; --good: #12361f; --warning: #4a3a05; --bad: #5a1e17; --link: #6cb0ff; } }
body { margin: 0 auto; max-width: 72rem; padding: 1.5rem 1.25rem 4rem; background: var(--paper);
  color: var(--ink); font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
h1 { font-size: 1.8rem; line-height: 1.2; margin: 0 0 .5rem; }
h2 { font-size: 1.3rem; margin: 2.5rem 0 .6rem; padding-bottom: .25rem; border-bottom: 1px solid var(--line); }
h3 { font-size: 1.05rem; margin: 1.6rem 0 .4rem; }
p, li { max-width: 52rem; } ul { padding-left: 1.3rem; } li { margin: .15rem 0; }
a { color: var(--link); }
nav { font-size: .9rem; margin: .75rem 0 1.25rem; } nav a { margin-right: 1rem; white-space: nowrap; }
nav ~ p:first-of-type { font-size: 1.1rem; }
.note { padding: .5rem .8rem; border-radius: 6px; max-width: 51rem; margin: .6rem 0; }
.scroll { overflow-x: auto; margin: .6rem 0 1rem; }
table { border-collapse: collapse; font-size: .88rem; font-variant-numeric: tabular-nums; }
caption, summary { text-align: left; color: var(--soft); font-size: .88rem; padding: .2rem 0; }
summary { cursor: pointer; }
th, td { text-align: left; padding: .28rem .7rem; border-bottom: 1px solid var(--line); vertical-align: top; }
td { white-space: nowrap; } td.wide { white-space: normal; min-width: 16rem; }
th { background: var(--shade); font-weight: 600; }
.good { background: var(--good); } .warning { background: var(--warning); } .bad { background: var(--bad); }
figure { margin: 1rem 0 1.6rem; } figure svg { max-width: 100%; height: auto; display: block; }
figcaption { color: var(--soft); font-size: .88rem; max-width: 52rem; }
figcaption b { color: var(--ink); }
@media print { body { max-width: none; } figure, tr { break-inside: avoid; } }
)";

std::string Escape(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

const char* Class(Tone tone) {
  switch (tone) {
    case Tone::kGood:
      return "good";
    case Tone::kWarning:
      return "warning";
    case Tone::kBad:
      return "bad";
    case Tone::kPlain:
      break;
  }
  return "";
}

struct Writer {
  std::string out;
  int sections = 0;

  void operator()(const Heading& heading) {
    out +=
        fmt::format("<h{0} id=\"section-{1}\">{2}</h{0}>\n", heading.level, sections++, Escape(heading.text));
  }
  void operator()(const Paragraph& paragraph) {
    if (paragraph.tone == Tone::kPlain)
      out += fmt::format("<p>{}</p>\n", Escape(paragraph.text));
    else
      out += fmt::format("<p class=\"note {}\">{}</p>\n", Class(paragraph.tone), Escape(paragraph.text));
  }
  void operator()(const List& list) {
    out += "<ul>\n";
    for (const std::string& item : list.items) out += fmt::format("<li>{}</li>\n", Escape(item));
    out += "</ul>\n";
  }
  void operator()(const Table& table) {
    if (table.folded) out += fmt::format("<details><summary>{}</summary>", Escape(table.caption));
    out += "<div class=\"scroll\"><table>\n";
    if (!table.folded && !table.caption.empty())
      out += fmt::format("<caption>{}</caption>\n", Escape(table.caption));
    out += table.header.front().empty() ? "<thead hidden><tr>" : "<thead><tr>";
    for (const std::string& name : table.header)
      out += fmt::format("<th scope=\"col\">{}</th>", Escape(name));
    out += "</tr></thead>\n<tbody>\n";
    for (const std::vector<Cell>& row : table.rows) {
      out += "<tr>";
      for (const Cell& cell : row) {
        // Numbers stay on one line, sentences may wrap.
        const char* width = cell.text.size() > 40 ? " wide" : "";
        out += fmt::format("<td class=\"{}{}\">{}</td>", Class(cell.tone), width, Escape(cell.text));
      }
      out += "</tr>\n";
    }
    out += table.folded ? "</tbody></table></div></details>\n" : "</tbody></table></div>\n";
  }
  void operator()(const Figure& figure) {
    out += fmt::format(
        "<figure id=\"{}\" role=\"img\" aria-label=\"{}\">\n{}<figcaption><b>{}.</b> "
        "{}</figcaption>\n</figure>\n",
        figure.id, Escape(figure.title), InlineSvg(figure.svg, figure.id), Escape(figure.title),
        Escape(figure.caption));
  }
};

std::string Contents(const Document& document) {
  std::string out = "<nav aria-label=\"Contents\">\n";
  int section = 0;
  for (const Block& block : document.blocks)
    if (const auto* heading = std::get_if<Heading>(&block)) {
      if (heading->level == 2)
        out += fmt::format("<a href=\"#section-{}\">{}</a>\n", section, Escape(heading->text));
      ++section;
    }
  return out + "</nav>\n";
}

}  // namespace

std::string ToHtml(const Document& document) {
  Writer writer;
  for (const Block& block : document.blocks) std::visit(writer, block);
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>{0}</title>\n<style>{1}</style>\n</head>\n<body>\n<h1>{0}</h1>\n{2}{3}</body>\n</html>\n",
      Escape(document.title), kStyle, Contents(document), writer.out);
}

}  // namespace dark::analysis
