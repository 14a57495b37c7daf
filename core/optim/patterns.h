#pragma once

#include <string>
#include <vector>

namespace dark {

/// Whether a parameter name matches a pattern. `*` stands for any text, `{a,b}` for either; a pattern matches
/// the whole name or any run of its dotted parts: "M" and "attn.{q,k,v}" and "layer.0" all match inside
/// "layer.0.attn.q" style names, part by part ("norm" does not match "attn_norm", "*norm" does).
bool MatchesName(const std::string& pattern, const std::string& name);
bool MatchesAny(const std::vector<std::string>& patterns, const std::string& name);

}  // namespace dark
