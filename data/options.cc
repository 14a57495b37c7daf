#include "data/options.h"

namespace dark {

std::vector<Setting> Bind(DataOptions& options) {
  return {
      {"text", &options.text, "file or folder of plain text; a folder is read recursively in path order"},
      {"tokenizer",
       &options.tokenizer,
       "byte: one token a byte; bpe: trained on the training part",
       {"byte", "bpe"}},
      {"vocab", &options.vocab, "tokens of the bpe vocabulary (byte always has 256)", 257, 65536},
      {"val_fraction", &options.val_fraction, "share of the text held out for validation", 0.0001, 0.9},
      {"cache", &options.cache,
       "folder of prepared tokens; empty = $XDG_CACHE_HOME/darkformer or ~/.cache/darkformer"},
  };
}

}  // namespace dark
