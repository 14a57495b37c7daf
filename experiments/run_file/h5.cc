#include "experiments/run_file/h5.h"

#include <cstring>

#include <fmt/format.h>

#include "core/files/file.h"
#include "experiments/run_file/checksum.h"

namespace dark::h5 {
namespace {

constexpr char kMagic[] = "DARKSEAL";
constexpr std::size_t kMagicSize = sizeof kMagic - 1;
constexpr std::size_t kSealSize = kMagicSize + sizeof(std::uint64_t);

/// HDF5 prints its error stack by default, once for each thread's own stack.
void Quiet() { H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr); }

/// The innermost entry of HDF5's error stack: the cause, not the calls that passed it on.
std::string Reason() {
  std::string reason = "HDF5 gives no reason";
  const auto take = [](unsigned depth, const H5E_error2_t* entry, void* text) -> herr_t {
    if (depth == 0 && entry->desc != nullptr) *static_cast<std::string*>(text) = entry->desc;
    return 0;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take, &reason);
  return reason;
}

bool CheckSeal(const std::string& path) {
  const FileDescriptor file = OpenIfExists(path);
  if (!file) throw Error(path + ": no such file", Exit::kFailed);
  const std::vector<std::byte> bytes = ReadFrom(file, 0, path);
  if (bytes.size() < kSealSize) return false;
  const std::span<const std::byte> content(bytes.data(), bytes.size() - kSealSize);
  const std::byte* seal = content.data() + content.size();
  if (std::memcmp(seal, kMagic, kMagicSize) != 0) return false;
  std::uint64_t stored = 0;
  std::memcpy(&stored, seal + kMagicSize, sizeof stored);
  if (stored != Checksum(content))
    throw Error(path + ": damaged: the checksum at its end does not match", Exit::kFailed);
  return true;
}

Handle TextType() {
  Handle type(H5Tcopy(H5T_C_S1), H5Tclose, "make a text type");
  Check(H5Tset_size(type, H5T_VARIABLE), "make a text type");
  Check(H5Tset_cset(type, H5T_CSET_UTF8), "make a text type");
  return type;
}

Handle Scalar() { return Handle(H5Screate(H5S_SCALAR), H5Sclose, "make a scalar"); }

/// The text of an attribute in the variable form that we write or the fixed form that other tools may write.
std::string TextOf(hid_t attribute, hid_t type, const std::string& action) {
  if (H5Tis_variable_str(type) > 0) {
    char* raw = nullptr;
    Check(H5Aread(attribute, type, &raw), action);
    std::string text = raw == nullptr ? "" : raw;
    H5free_memory(raw);
    return text;
  }
  std::string text(H5Tget_size(type), '\0');
  Check(H5Aread(attribute, type, text.data()), action);
  return text.substr(0, text.find('\0'));
}

}  // namespace

Handle::Handle(hid_t id, herr_t (*close)(hid_t), const std::string& action) : id_(id), close_(close) {
  if (id < 0) Check(-1, action);
}

void Check(herr_t result, const std::string& action) {
  if (result < 0) throw Error(fmt::format("cannot {}: {}", action, Reason()), Exit::kFailed);
}

Handle NewFile() {
  Quiet();
  constexpr std::size_t kGrowth = std::size_t{1} << 20;
  const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "make file properties");
  Check(H5Pset_fapl_core(access, kGrowth, false), "keep the file in memory");
  return Handle(H5Fcreate("in memory", H5F_ACC_TRUNC, H5P_DEFAULT, access), H5Fclose, "create the file");
}

std::vector<std::byte> SealedImage(const Handle& file) {
  Check(H5Fflush(file, H5F_SCOPE_GLOBAL), "complete the file");
  const ssize_t size = H5Fget_file_image(file, nullptr, 0);
  Check(size < 0 ? -1 : 0, "measure the file");
  std::vector<std::byte> image(static_cast<std::size_t>(size) + kSealSize);
  const std::span<std::byte> content(image.data(), static_cast<std::size_t>(size));
  Check(H5Fget_file_image(file, content.data(), content.size()) < 0 ? -1 : 0, "copy the file");
  const std::uint64_t sum = Checksum(content);
  std::memcpy(content.data() + content.size(), kMagic, kMagicSize);
  std::memcpy(content.data() + content.size() + kMagicSize, &sum, sizeof sum);
  return image;
}

Handle OpenFile(const std::string& path, Seal seal) {
  Quiet();
  if (!CheckSeal(path) && seal == Seal::kRequired)
    throw Error(path + ": truncated or another program's file: no checksum at its end", Exit::kFailed);
  return Named(path, [&] {
    const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "make file properties");
    // Files are replaced and never changed in place, so there is nothing to lock, and some file systems
    // cannot.
    Check(H5Pset_file_locking(access, false, true), "set file properties");
    return Handle(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access), H5Fclose, "open as HDF5");
  });
}

void WriteText(hid_t object, const std::string& name, const std::string& value) {
  const std::string action = fmt::format("write attribute '{}'", name);
  if (value.find('\0') != std::string::npos || name.find('\0') != std::string::npos)
    throw Error(fmt::format("cannot {}: text with a NUL byte", action), Exit::kFailed);
  const Handle type = TextType();
  const Handle attribute(H5Acreate2(object, name.c_str(), type, Scalar(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose,
                         action);
  const char* text = value.c_str();
  Check(H5Awrite(attribute, type, &text), action);
}

std::map<std::string, std::string> ReadTexts(hid_t object) {
  std::vector<std::string> names;
  const auto take = [](hid_t, const char* name, const H5A_info_t*, void* list) -> herr_t {
    static_cast<std::vector<std::string>*>(list)->push_back(name);
    return 0;
  };
  Check(H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_NATIVE, nullptr, take, &names), "list attributes");
  std::map<std::string, std::string> texts;
  for (const std::string& name : names) {
    const std::string action = fmt::format("read attribute '{}'", name);
    const Handle attribute(H5Aopen(object, name.c_str(), H5P_DEFAULT), H5Aclose, action);
    const Handle type(H5Aget_type(attribute), H5Tclose, action);
    const Handle space(H5Aget_space(attribute), H5Sclose, action);
    if (H5Tget_class(type) == H5T_STRING && H5Sget_simple_extent_npoints(space) == 1)
      texts[name] = TextOf(attribute, type, action);
  }
  return texts;
}

void WriteInt(hid_t object, const std::string& name, int value) {
  const std::string action = fmt::format("write attribute '{}'", name);
  const Handle attribute(H5Acreate2(object, name.c_str(), H5T_STD_I32LE, Scalar(), H5P_DEFAULT, H5P_DEFAULT),
                         H5Aclose, action);
  Check(H5Awrite(attribute, H5T_NATIVE_INT, &value), action);
}

int ReadInt(hid_t object, const std::string& name) {
  const std::string action = fmt::format("read attribute '{}'", name);
  const Handle attribute(H5Aopen(object, name.c_str(), H5P_DEFAULT), H5Aclose, action);
  const Handle space(H5Aget_space(attribute), H5Sclose, action);
  int value = 0;
  if (H5Sget_simple_extent_npoints(space) != 1)
    throw Error(fmt::format("cannot {}: not one number", action), Exit::kFailed);
  Check(H5Aread(attribute, H5T_NATIVE_INT, &value), action);
  return value;
}

}  // namespace dark::h5
