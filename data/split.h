#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace dark {

/// Which bytes of a text are held out.
struct Split {
  std::vector<std::string_view> train, validation;  ///< pieces of the text, in its order
  std::uint64_t hash = 0;                           ///< of the text's hash and the pieces held out
};

/// A pure function of text and fraction, whatever the tokenizer. The text is cut into up to 16 equal
/// stretches (fewer for short texts); in each, one block of `val_fraction` of its bytes is held out, at a
/// place drawn from a stream keyed by `data_hash`, the text's ContentHash. Blocks rather than lines keep long
/// contexts whole; one in every stretch keeps the validation text like the whole.
Split SplitText(std::string_view text, std::uint64_t data_hash, double val_fraction);

}  // namespace dark
