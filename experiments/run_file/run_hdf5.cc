#include "experiments/run_file/run_hdf5.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/error.h"
#include "core/files/replace_file.h"
#include "experiments/run_file/columns.h"
#include "experiments/run_file/h5.h"
#include "experiments/run_file/run_file.h"

namespace dark {
namespace {

constexpr char kVersionName[] = "schema_version";
constexpr hsize_t kMaxChunk = 8192;  // rows: 64 kB, read fast as a whole and in parts

struct NumberType {
  hid_t file;
  hid_t memory;
};
NumberType TypeOf(double) { return {H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE}; }
NumberType TypeOf(std::int64_t) { return {H5T_STD_I64LE, H5T_NATIVE_INT64}; }
NumberType TypeOf(std::uint64_t) { return {H5T_STD_U64LE, H5T_NATIVE_UINT64}; }

template <class Row, class Value>
void WriteColumn(hid_t group, const Column<Row>& column, Value Row::*member, const std::vector<Row>& rows) {
  const std::string action = fmt::format("write column '{}'", column.name);
  std::vector<Value> values(rows.size());
  std::transform(rows.begin(), rows.end(), values.begin(), [&](const Row& row) { return row.*member; });
  const hsize_t size = values.size(), chunk = std::clamp<hsize_t>(size, 1, kMaxChunk), most = H5S_UNLIMITED;
  const h5::Handle space(H5Screate_simple(1, &size, &most), H5Sclose, action);
  const h5::Handle layout(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, action);
  h5::Check(H5Pset_chunk(layout, 1, &chunk), action);
  h5::Check(H5Pset_fletcher32(layout), action);
  h5::Check(H5Pset_obj_track_times(layout, false), action);  // equal runs make equal files
  const NumberType type = TypeOf(Value{});
  const h5::Handle data(H5Dcreate2(group, column.name, type.file, space, H5P_DEFAULT, layout, H5P_DEFAULT),
                        H5Dclose, action);
  h5::Check(H5Dwrite(data, type.memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), action);
  h5::WriteText(data, "unit", column.unit);
  h5::WriteText(data, "help", column.help);
}

template <class Row, class Value>
void ReadColumn(hid_t group, const Column<Row>& column, Value Row::*member, std::vector<Row>& rows,
                bool first) {
  const std::string action = fmt::format("read column '{}'", column.name);
  const h5::Handle data(H5Dopen2(group, column.name, H5P_DEFAULT), H5Dclose, action);
  const h5::Handle space(H5Dget_space(data), H5Sclose, action);
  const hssize_t size = H5Sget_simple_extent_npoints(space);
  if (H5Sget_simple_extent_ndims(space) != 1 || size < 0)
    throw Error(fmt::format("cannot {}: it is no series", action), Exit::kFailed);
  if (first) rows.resize(static_cast<std::size_t>(size));
  if (rows.size() != static_cast<std::size_t>(size))
    throw Error(fmt::format("cannot {}: {} rows beside columns of {}", action, size, rows.size()),
                Exit::kFailed);
  std::vector<Value> values(rows.size());
  h5::Check(H5Dread(data, TypeOf(Value{}).memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), action);
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i].*member = values[i];
}

std::vector<std::byte> Encode(const RunData& run) {
  const h5::Handle file = h5::NewFile();
  h5::WriteInt(file, kVersionName, kRunSchemaVersion);
  for (const auto& [name, value] : run.attributes) h5::WriteText(file, name, value);
  ForEachTable([&](const auto& table) {
    const h5::Handle group(H5Gcreate2(file, table.group, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose,
                           fmt::format("write table '{}'", table.group));
    h5::WriteText(group, "help", table.help);
    for (const auto& column : table.columns)
      std::visit([&](auto member) { WriteColumn(group, column, member, run.*table.rows); }, column.member);
  });
  return h5::SealedImage(file);
}

RunData Decode(hid_t file) {
  const int version = h5::ReadInt(file, kVersionName);
  if (version < 1 || version > kRunSchemaVersion)
    throw Error(
        fmt::format("run file of schema version {}; this program reads up to {}", version, kRunSchemaVersion),
        Exit::kFailed);
  RunData run;
  run.attributes = h5::ReadTexts(file);
  ForEachTable([&](const auto& table) {
    const h5::Handle group(H5Gopen2(file, table.group, H5P_DEFAULT), H5Gclose,
                           fmt::format("read table '{}'", table.group));
    bool first = true;
    for (const auto& column : table.columns) {
      std::visit([&](auto member) { ReadColumn(group, column, member, run.*table.rows, first); },
                 column.member);
      first = false;
    }
  });
  return run;
}

}  // namespace

void WriteRun(const std::string& path, const RunData& run) {
  ReplaceFile(path, h5::Named(path, [&] { return Encode(run); }));
}

RunData ReadRunHdf5(const std::string& path) {
  const h5::Handle file = h5::OpenFile(path, h5::Seal::kIfPresent);
  return h5::Named(path, [&] { return Decode(file); });
}

}  // namespace dark
