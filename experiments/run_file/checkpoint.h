#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace dark {

/// Named tensors and texts in one HDF5 file: weights, moments, Ω, counters, stream positions, data position.
struct Checkpoint {
  struct Array {
    std::vector<std::int64_t> shape;
    std::variant<std::vector<float>, std::vector<double>, std::vector<std::int64_t>> values;
  };
  std::map<std::string, std::string> attributes;  ///< config, config_hash, step, data_hash, precision, …
  std::map<std::string, Array> arrays;  ///< "weights/layer.0.attn.q", "moment1/…", "omega/layer.0", …
};

/// Writes to a temporary name, syncs, renames, syncs the folder: a kill or a full disk at any byte leaves the
/// old checkpoint whole; temporaries of savers that died are removed. Stores a checksum over all content.
/// Throws Error(kFailed) with path, bytes needed and errno text, also for a name with empty, "." or ".."
/// parts and for a shape that does not fit its values.
void SaveCheckpoint(const std::string& path, const Checkpoint& checkpoint);
/// Throws Error(kFailed) for anything that is not a whole checkpoint (truncated, flipped bits, other file).
Checkpoint LoadCheckpoint(const std::string& path);

}  // namespace dark
