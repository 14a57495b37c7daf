#include "core/attention/base_draws.h"

#include <algorithm>

#include "core/tensor/decompositions.h"

namespace dark {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

Matrix Gaussian(Index rows, Index cols, Stream& stream) {
  Matrix g(rows, cols);
  stream.Normals(std::span<double>(g.data(), static_cast<std::size_t>(g.size())));
  return g;
}

Matrix HaarOrthogonal(Index dim, Stream& stream) { return SignedQ(Gaussian(dim, dim, stream)).transpose(); }

template <class T>
Eigen::Map<Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>> AsMatrix(std::span<T> data,
                                                                                       Index rows,
                                                                                       Index cols) {
  return {data.data(), rows, cols};
}

}  // namespace

Draws DrawsFromName(const std::string& name) { return name == "iid" ? Draws::kIid : Draws::kOrthogonal; }

template <class T>
void DrawBase(Draws draws, Index m, Index dim, Stream stream, std::span<T> omega) {
  auto out = AsMatrix(omega, m, dim);
  for (Index begin = 0; begin < m; begin += dim) {
    const Index rows = std::min(dim, m - begin);
    const Matrix gaussian = Gaussian(dim, dim, stream);
    if (draws == Draws::kIid) {
      out.middleRows(begin, rows) = gaussian.topRows(rows).template cast<T>();
      continue;
    }
    const Matrix directions = HaarOrthogonal(dim, stream);
    out.middleRows(begin, rows) =
        (gaussian.rowwise().norm().asDiagonal() * directions).topRows(rows).template cast<T>();
  }
}
template void DrawBase(Draws, Index, Index, Stream, std::span<float>);
template void DrawBase(Draws, Index, Index, Stream, std::span<double>);

template <class T>
void DrawOrthonormal(Index rows, Index dim, Stream stream, std::span<T> out) {
  AsMatrix(out, rows, dim) = HaarOrthogonal(dim, stream).topRows(rows).template cast<T>();
}
template void DrawOrthonormal(Index, Index, Stream, std::span<float>);
template void DrawOrthonormal(Index, Index, Stream, std::span<double>);

}  // namespace dark
