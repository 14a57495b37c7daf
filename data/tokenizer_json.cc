#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/files/file.h"
#include "core/files/replace_file.h"
#include "data/tokenizer.h"

namespace dark {
namespace {

constexpr const char* kFormat = "darkformer tokenizer";
constexpr int kVersion = 1;

// Throws Error or a json exception; FromJson adds where.
Tokenizer Parse(std::string_view text) {
  const nlohmann::json json = nlohmann::json::parse(text);
  if (json.at("format") != kFormat) throw Error("not a darkformer tokenizer");
  if (json.at("version") != kVersion)
    throw Error(fmt::format("version {}, this program reads {}", json.at("version").dump(), kVersion));
  Tokenizer tokenizer(json.at("merges").get<std::vector<Merge>>());
  const auto written = json.at("tokens").get<std::vector<std::string>>();
  if (static_cast<Index>(written.size()) != tokenizer.vocab())
    throw Error(fmt::format("{} tokens listed, its merges give {}", written.size(), tokenizer.vocab()));
  for (std::uint32_t token = 0; token < written.size(); ++token) {
    const std::string expected = Escape(tokenizer.Bytes(token));
    if (written[token] != expected)
      throw Error(fmt::format("token {} is listed as \"{}\", its merges give \"{}\"", token, written[token],
                              expected));
  }
  return tokenizer;
}

}  // namespace

std::string Escape(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) {
    if (byte == '\\')
      text += "\\\\";
    else if (byte >= ' ' && byte <= '~')
      text += byte;
    else
      text += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
  }
  return text;
}

std::string Tokenizer::ToJson() const {
  nlohmann::ordered_json json;
  json["format"] = kFormat;
  json["version"] = kVersion;
  json["merges"] = merges_;
  std::vector<std::string> escaped;
  for (const std::string& bytes : token_bytes_) escaped.push_back(Escape(bytes));
  json["tokens"] = escaped;
  return json.dump();
}

Tokenizer Tokenizer::FromJson(std::string_view json, const std::string& origin) {
  try {
    return Parse(json);
  } catch (const std::exception& problem) {
    throw Error(fmt::format("{}: bad tokenizer: {}", origin, problem.what()), Exit::kFailed);
  }
}

void Tokenizer::Save(const std::string& path) const { ReplaceFile(path, ToJson() + "\n"); }

Tokenizer Tokenizer::Load(const std::string& path) { return FromJson(ReadFile(path), path); }

}  // namespace dark
