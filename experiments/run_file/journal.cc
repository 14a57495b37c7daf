#include "experiments/run_file/journal.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "core/files/replace_file.h"
#include "experiments/run_file/checksum.h"

namespace dark {
namespace {

using Bytes = std::span<const std::byte>;

struct FileHead {
  char magic[8] = {'D', 'A', 'R', 'K', 'J', 'R', 'N', 'L'};
  std::uint64_t version = kRunSchemaVersion;
};

struct RecordHead {
  std::uint32_t length;
  std::uint32_t type;
  std::uint64_t checksum;
};

constexpr std::uint32_t kAttribute = 1;

std::uint64_t Sum(std::uint32_t length, std::uint32_t type, Bytes payload) {
  return Checksum(payload, std::uint64_t{type} << 32 | length);
}

template <class T>
T Load(Bytes bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

void Put(std::vector<std::byte>& to, Bytes bytes) {
  const std::size_t size = to.size();
  to.resize(size + bytes.size());
  std::copy(bytes.begin(), bytes.end(), to.begin() + static_cast<std::ptrdiff_t>(size));
}

template <class T>
Bytes BytesOf(const T& value) {
  return std::as_bytes(std::span(&value, 1));
}

/// The payload of the record at the start of `bytes`; no value when the record is not whole.
std::optional<Bytes> WholeRecord(Bytes bytes) {
  if (bytes.size() < sizeof(RecordHead)) return {};
  const auto head = Load<RecordHead>(bytes);
  if (bytes.size() - sizeof head < head.length) return {};
  const Bytes payload = bytes.subspan(sizeof head, head.length);
  if (head.checksum != Sum(head.length, head.type, payload)) return {};
  return payload;
}

/// Adds the record to `run`; false for a type or a length that this schema does not have.
bool Apply(std::uint32_t type, Bytes payload, RunData& run) {
  if (type == kAttribute) {
    if (payload.size() < sizeof(std::uint32_t)) return false;
    const auto length = Load<std::uint32_t>(payload);
    const std::string text(reinterpret_cast<const char*>(payload.data()) + sizeof length,
                           payload.size() - sizeof length);
    if (length > text.size()) return false;
    run.attributes[text.substr(0, length)] = text.substr(length);
    return true;
  }
  bool known = false;
  ForEachTable([&]<class Row>(const Table<Row>& table) {
    if (table.record != type || payload.size() != sizeof(Row)) return;
    (run.*table.rows).push_back(Load<Row>(payload));
    known = true;
  });
  return known;
}

}  // namespace

std::string JournalPath(const std::string& run_path) { return run_path + ".journal"; }

JournalWriter::JournalWriter(std::string path, const RunData& run) : path_(std::move(path)) {
  Put(waiting_, BytesOf(FileHead{}));
  for (const auto& [name, value] : run.attributes) Add(name, value);
  ForEachTable([&](const auto& table) {
    for (const auto& row : run.*table.rows) Add(row);
  });
  ReplaceFile(path_, waiting_);
  end_ = static_cast<off_t>(waiting_.size());
  waiting_.clear();
  file_ = FileDescriptor(::open(path_.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file_) throw FileError(path_, "open for writing");
}

void JournalWriter::Add(const std::string& attribute, const std::string& value) {
  std::vector<std::byte> payload;
  Put(payload, BytesOf(static_cast<std::uint32_t>(attribute.size())));
  Put(payload, std::as_bytes(std::span(attribute)));
  Put(payload, std::as_bytes(std::span(value)));
  AddRecord(kAttribute, payload);
}

void JournalWriter::AddRecord(std::uint32_t type, Bytes payload) {
  const auto length = static_cast<std::uint32_t>(payload.size());
  Put(waiting_, BytesOf(RecordHead{length, type, Sum(length, type, payload)}));
  Put(waiting_, payload);
}

void JournalWriter::Flush() {
  if (waiting_.empty()) return;
  WriteAt(file_, end_, waiting_, path_);
  if (::fdatasync(file_.get()) != 0) throw FileError(path_, "sync");
  end_ += static_cast<off_t>(waiting_.size());
  waiting_.clear();
}

std::optional<JournalReader> JournalReader::Open(const std::string& path) {
  FileDescriptor file = OpenIfExists(path);
  if (!file) return {};
  return JournalReader(path, std::move(file));
}

JournalReader::JournalReader(std::string path, FileDescriptor file)
    : path_(std::move(path)), file_(std::move(file)) {
  FileHead head;
  struct stat status {};
  const bool whole = ::fstat(file_.get(), &status) == 0 && S_ISREG(status.st_mode) &&
                     ::pread(file_.get(), &head, sizeof head, 0) == static_cast<ssize_t>(sizeof head);
  if (!whole || std::memcmp(head.magic, FileHead{}.magic, sizeof head.magic) != 0)
    throw Error(path_ + ": is no journal of a run", Exit::kFailed);
  if (head.version != kRunSchemaVersion)
    throw Error(fmt::format("{}: journal of schema version {}; this program reads {}", path_, head.version,
                            kRunSchemaVersion),
                Exit::kFailed);
  next_ = sizeof head;
}

std::size_t JournalReader::ReadInto(RunData& run) {
  const std::vector<std::byte> bytes = ReadFrom(file_, next_, path_);
  Bytes rest = bytes;
  while (const std::optional<Bytes> payload = WholeRecord(rest)) {
    if (!Apply(Load<RecordHead>(rest).type, *payload, run))
      throw Error(fmt::format("{}: unknown record at byte {}", path_, next_), Exit::kFailed);
    const std::size_t size = sizeof(RecordHead) + payload->size();
    rest = rest.subspan(size);
    next_ += static_cast<off_t>(size);
  }
  return rest.size();
}

bool JournalReader::Current() const {
  struct stat mine {};
  struct stat at_path {};
  return ::fstat(file_.get(), &mine) == 0 && ::stat(path_.c_str(), &at_path) == 0 &&
         mine.st_dev == at_path.st_dev && mine.st_ino == at_path.st_ino;
}

}  // namespace dark
