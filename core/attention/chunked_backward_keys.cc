#include "core/attention/chunked.h"
#include "core/tensor/matmul.h"

namespace dark {

// U and u of the queries from this chunk on, relative to the chunk's first running scale.
template <class T>
void Chunked<T>::AddToLater(const Unit& u, const Chunk& c, PrefixState<T>& later) const {
  const Scratch& w = u.w;
  const Index rows = c.rows, vd = shape_.value_dim, local = c.local();
  const T first = w.running[local];
  MatrixMap<T> through(w.dphi_q, rows, m_);
  if (c.begin + rows < shape_.context) {
    const T rise = std::exp(first - later.scale);
    later.S() *= rise;
    later.Z() *= rise;
  }
  T factor[kChunk];
  RowArray<T>(factor, rows) = first - RowArray<T>(w.running + local, rows);
  Exponentials(rows, factor);
  ForQueries(u.key_head, [&](Index i, Index h) {
    const Index at = i * segment_length() + local;
    const MatrixMap<T> phi_q(PhiQ(u, h, c), rows, m_);
    for (Index r = 0; r < rows; ++r) through.row(r) = factor[r] * phi_q.row(r);
    Gemm(Op::kTranspose, Op::kNone, m_, vd, rows, {through.data(), m_}, {w.dnum + at * vd, vd}, T(1), later.s,
         vd, operands_);
    later.Z().noalias() +=
        through.transpose() * Eigen::Map<Eigen::Matrix<T, Eigen::Dynamic, 1>>(w.dden + at, rows);
  });
  later.scale = first;
}

// Chunks in reverse order with U = Σ φ(q_i) dnum_iᵀ·exp(ρ − r_i) and u likewise with dden, over later queries
// i of all query heads; ρ is the running scale of the first of them, so exp(ρ − r_i) and exp(c_j − ρ) are ≤
// 1:
//   dφ(k_j) += exp(c_j − ρ)(U v_j + u),  dv_j += exp(c_j − ρ) Uᵀφ(k_j)
template <class T>
void Chunked<T>::BackwardKeys(const Unit& u, const Chunk& c, T beta, PrefixState<T>& later) const {
  const Scratch& w = u.w;
  const Index rows = c.rows, vd = shape_.value_dim, local = c.local();
  const auto values = ValueHead(v_->value, u), dvalues = ValueHead(v_->grad, u);
  MatrixMap<T> phi_k(PhiK(u, c), rows, m_), dphi(w.dphi_k + local * m_, rows, m_);
  MatrixMap<T> through(w.dphi_q, rows, m_);
  if (c.begin + rows < shape_.context) {
    Gemm(Op::kNone, Op::kTranspose, rows, m_, vd, {values.row(c.begin), values.stride}, {later.s, vd}, T(0),
         through.data(), m_, operands_);
    T factor[kChunk];
    RowArray<T>(factor, rows) = RowArray<T>(KeyScale(u, c), rows) - later.scale;
    Exponentials(rows, factor);
    for (Index j = 0; j < rows; ++j) {
      dphi.row(j) += factor[j] * (through.row(j) + later.Z().transpose());
      through.row(j) = factor[j] * phi_k.row(j);
    }
    Gemm(Op::kNone, Op::kNone, rows, vd, m_, {through.data(), m_}, {later.s, vd}, T(1), dvalues.row(c.begin),
         dvalues.stride, operands_);
  }
  AddToLater(u, c, later);
  dphi.array() *= phi_k.array();
  const auto dkeys = KeyHead(k_->grad, u);
  map_->Backward(u.key_head, rows, From(KeyHead(k_->value, u), c.begin),
                 {dphi.data(), /*constant=*/true, operands_}, beta, {dkeys.row(c.begin), dkeys.stride},
                 Partial(u.b, u.key_head));
}
template void Chunked<float>::BackwardKeys(const Unit&, const Chunk&, float, PrefixState<float>&) const;
template void Chunked<double>::BackwardKeys(const Unit&, const Chunk&, double, PrefixState<double>&) const;

}  // namespace dark
