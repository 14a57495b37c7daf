#pragma once

#include <string>
#include <vector>

#include "core/setting.h"

namespace dark {

/// Where the text comes from and how it becomes tokens.
struct DataOptions {
  std::string text;                ///< file or folder of plain text
  std::string tokenizer = "byte";  ///< byte | bpe
  Index vocab = 512;               ///< BPE vocabulary size; the byte tokenizer has 256
  double val_fraction = 0.1;       ///< share of the text held out
  std::string cache;               ///< folder of token shards; empty = beside the user's cache
};

std::vector<Setting> Bind(DataOptions& options);

}  // namespace dark
