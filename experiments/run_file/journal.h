#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/files/file.h"
#include "experiments/run_file/columns.h"
#include "experiments/run_file/run_data.h"

namespace dark {

// The journal: 8 bytes "DARKJRNL", the schema version as a 64-bit integer, then records to the end of the
// file. A record is its payload's length (32 bits), its type (32 bits), a Checksum of the payload seeded with
// both (64 bits) and the payload: an attribute (type 1: length of the name in 32 bits, name, value; the last
// one of a name counts) or a row (type and columns in columns.h, 8 bytes each). Little-endian throughout. A
// record that a kill or a full disk tore has a wrong checksum; it and what follows it do not count.

/// RUN.h5.journal of RUN.h5.
std::string JournalPath(const std::string& run_path);

/// Appends to a journal. Records wait in memory until Flush.
class JournalWriter {
 public:
  /// Replaces what stands at `path` by a journal that holds `run`, in one stroke.
  JournalWriter(std::string path, const RunData& run);
  void Add(const std::string& attribute, const std::string& value);
  template <class Row>
  void Add(const Row& row) {
    AddRecord(TableOf<Row>().record, std::as_bytes(std::span(&row, 1)));
  }
  /// Writes and syncs what waits. When it throws nothing is lost: the next Flush writes the same bytes to the
  /// same place, over whatever part of them reached the disk.
  void Flush();

 private:
  void AddRecord(std::uint32_t type, std::span<const std::byte> payload);

  std::string path_;
  FileDescriptor file_;
  off_t end_ = 0;  ///< bytes known to be on the disk
  std::vector<std::byte> waiting_;
};

/// Reads a journal that may be growing.
class JournalReader {
 public:
  /// Empty when there is no journal at `path`; throws Error(kFailed) when the file there is none.
  static std::optional<JournalReader> Open(const std::string& path);
  /// Adds every whole record since the last call to `run`. Returns the bytes behind the last whole record.
  std::size_t ReadInto(RunData& run);
  /// Whether the journal it reads is still the one at its path, neither removed nor replaced.
  bool Current() const;

 private:
  JournalReader(std::string path, FileDescriptor file);

  std::string path_;
  FileDescriptor file_;
  off_t next_ = 0;  ///< where the next record begins
};

}  // namespace dark
