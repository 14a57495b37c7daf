#include "experiments/run_file/checkpoint.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/error.h"
#include "core/files/replace_file.h"
#include "experiments/run_file/h5.h"

namespace dark {
namespace {

constexpr char kVersionName[] = "checkpoint_version";
constexpr int kVersion = 1;

struct NumberType {
  hid_t file;
  hid_t memory;
};
NumberType TypeOf(float) { return {H5T_IEEE_F32LE, H5T_NATIVE_FLOAT}; }
NumberType TypeOf(double) { return {H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE}; }
NumberType TypeOf(std::int64_t) { return {H5T_STD_I64LE, H5T_NATIVE_INT64}; }

/// HDF5 would take "a//b" for "a/b" and "." for the folder itself, and the array would come back renamed.
bool GoodName(const std::string& name) {
  std::size_t begin = 0;
  while (true) {
    const std::size_t end = name.find('/', begin);
    const std::string part = name.substr(begin, end - begin);
    if (part.empty() || part == "." || part == ".." || part.find('\0') != std::string::npos) return false;
    if (end == std::string::npos) return true;
    begin = end + 1;
  }
}

/// Elements of `shape`, or -1 when it is no shape.
std::int64_t Elements(const std::vector<std::int64_t>& shape) {
  std::int64_t count = 1;
  for (const std::int64_t size : shape)
    if (size < 0 || __builtin_mul_overflow(count, size, &count)) return -1;
  return count;
}

template <class T>
void WriteValues(hid_t file, const std::string& name, const std::vector<std::int64_t>& shape,
                 const std::vector<T>& values) {
  const std::string action = fmt::format("write array '{}'", name);
  if (!GoodName(name)) throw Error(fmt::format("cannot {}: no name for an array", action), Exit::kFailed);
  if (Elements(shape) != static_cast<std::int64_t>(values.size()))
    throw Error(
        fmt::format("cannot {}: {} values, but its shape holds {}", action, values.size(), Elements(shape)),
        Exit::kFailed);
  const std::vector<hsize_t> dims(shape.begin(), shape.end());
  const h5::Handle space(dims.empty() ? H5Screate(H5S_SCALAR)
                                      : H5Screate_simple(static_cast<int>(dims.size()), dims.data(), nullptr),
                         H5Sclose, action);
  const h5::Handle links(H5Pcreate(H5P_LINK_CREATE), H5Pclose, action);
  h5::Check(H5Pset_create_intermediate_group(links, 1), action);
  const h5::Handle layout(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, action);
  h5::Check(H5Pset_obj_track_times(layout, false), action);  // equal states make equal files
  const NumberType type = TypeOf(T{});
  const h5::Handle data(H5Dcreate2(file, name.c_str(), type.file, space, links, layout, H5P_DEFAULT),
                        H5Dclose, action);
  h5::Check(H5Dwrite(data, type.memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), action);
}

template <class T>
std::vector<T> ReadValues(hid_t data, std::int64_t count, const std::string& action) {
  std::vector<T> values(static_cast<std::size_t>(count));
  h5::Check(H5Dread(data, TypeOf(T{}).memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), action);
  return values;
}

Checkpoint::Array ReadArray(hid_t data, const std::string& name) {
  const std::string action = fmt::format("read array '{}'", name);
  const h5::Handle space(H5Dget_space(data), H5Sclose, action);
  const int rank = H5Sget_simple_extent_ndims(space);
  h5::Check(rank, action);
  std::vector<hsize_t> dims(static_cast<std::size_t>(rank));
  h5::Check(H5Sget_simple_extent_dims(space, dims.data(), nullptr), action);
  const h5::Handle type(H5Dget_type(data), H5Tclose, action);
  Checkpoint::Array array{{dims.begin(), dims.end()}, {}};
  const std::int64_t count = Elements(array.shape);
  if (H5Tequal(type, H5T_IEEE_F32LE) > 0)
    array.values = ReadValues<float>(data, count, action);
  else if (H5Tequal(type, H5T_IEEE_F64LE) > 0)
    array.values = ReadValues<double>(data, count, action);
  else if (H5Tequal(type, H5T_STD_I64LE) > 0)
    array.values = ReadValues<std::int64_t>(data, count, action);
  else
    throw Error(fmt::format("cannot {}: unknown number type", action), Exit::kFailed);
  return array;
}

std::vector<std::string> ObjectNames(hid_t file) {
  std::vector<std::string> names;
  const auto take = [](hid_t, const char* name, const H5L_info_t*, void* list) -> herr_t {
    static_cast<std::vector<std::string>*>(list)->push_back(name);
    return 0;
  };
  h5::Check(H5Lvisit(file, H5_INDEX_NAME, H5_ITER_NATIVE, take, &names), "list arrays");
  return names;
}

std::vector<std::byte> Encode(const Checkpoint& checkpoint) {
  const h5::Handle file = h5::NewFile();
  h5::WriteInt(file, kVersionName, kVersion);
  for (const auto& [name, value] : checkpoint.attributes) h5::WriteText(file, name, value);
  for (const auto& entry : checkpoint.arrays) {
    const auto write = [&](const auto& values) {
      WriteValues(file, entry.first, entry.second.shape, values);
    };
    std::visit(write, entry.second.values);
  }
  return h5::SealedImage(file);
}

Checkpoint Decode(hid_t file) {
  if (const int version = h5::ReadInt(file, kVersionName); version != kVersion)
    throw Error(fmt::format("checkpoint of version {}; this program reads {}", version, kVersion),
                Exit::kFailed);
  Checkpoint checkpoint;
  checkpoint.attributes = h5::ReadTexts(file);
  for (const std::string& name : ObjectNames(file)) {
    const h5::Handle object(H5Oopen(file, name.c_str(), H5P_DEFAULT), H5Oclose,
                            fmt::format("open '{}'", name));
    if (H5Iget_type(object) == H5I_DATASET) checkpoint.arrays[name] = ReadArray(object, name);
  }
  return checkpoint;
}

}  // namespace

void SaveCheckpoint(const std::string& path, const Checkpoint& checkpoint) {
  ReplaceFile(path, h5::Named(path, [&] { return Encode(checkpoint); }));
}

Checkpoint LoadCheckpoint(const std::string& path) {
  const h5::Handle file = h5::OpenFile(path, h5::Seal::kRequired);
  return h5::Named(path, [&] { return Decode(file); });
}

}  // namespace dark
