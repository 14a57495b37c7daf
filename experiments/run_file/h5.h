#pragma once

#include <hdf5.h>

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"

/// The little of HDF5 that run files and checkpoints need, with errors as Error(kFailed) that give HDF5's own
/// reason. Files are built in memory and stored by ReplaceFile, because HDF5 itself neither syncs nor
/// survives a full disk. Behind the HDF5 bytes stands a seal: 8 bytes "DARKSEAL" and the Checksum of what
/// precedes it. Other HDF5 readers ignore it, and a program that edits the file through HDF5 cuts it off.
namespace dark::h5 {

/// Owns any HDF5 id.
class Handle {
 public:
  Handle() = default;
  /// Throws Error "cannot DO: reason" when `id` is invalid.
  Handle(hid_t id, herr_t (*close)(hid_t), const std::string& action);
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, H5I_INVALID_HID)), close_(other.close_) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }
  ~Handle() {
    if (id_ >= 0) close_(id_);
  }
  operator hid_t() const { return id_; }  // ids are integers to every HDF5 call

 private:
  hid_t id_ = H5I_INVALID_HID;
  herr_t (*close_)(hid_t) = nullptr;
};

/// Throws Error "cannot DO: reason" when an HDF5 call returned a negative number.
void Check(herr_t result, const std::string& action);

/// An empty file in memory, in the earliest format, which every HDF5 library reads.
Handle NewFile();
/// The bytes of a file made by NewFile, sealed.
std::vector<std::byte> SealedImage(const Handle& file);

/// kRequired: files nobody but us writes. kIfPresent: files that people may have edited with other programs.
enum class Seal { kRequired, kIfPresent };
/// Opens for reading after the seal was checked, so that damaged bytes never reach the HDF5 parser. Its
/// errors name the path.
Handle OpenFile(const std::string& path, Seal seal);

/// Text attributes, UTF-8 of any length without NUL bytes.
void WriteText(hid_t object, const std::string& name, const std::string& value);
std::map<std::string, std::string> ReadTexts(hid_t object);

/// Integer attributes. `ReadInt` throws Error when there is none.
void WriteInt(hid_t object, const std::string& name, int value);
int ReadInt(hid_t object, const std::string& name);

/// Runs `work` and puts `path` before the message of whatever it throws. A damaged file can also ask for more
/// memory than there is.
template <class Work>
auto Named(const std::string& path, Work work) {
  try {
    return work();
  } catch (const std::exception& error) {
    throw Error(path + ": " + error.what(), Exit::kFailed);
  }
}

}  // namespace dark::h5
