#include "core/attention/chunked.h"
#include "core/tensor/matmul.h"

namespace dark {

// What queries of this chunk count for, relative to its first running scale, and what the state of those
// after it has to be multiplied by.
template <class T>
T Chunked<T>::StartLater(const Unit& u, const Chunk& c, PrefixState<T>& later, T* factor) const {
  T* running = u.w.running + c.local();
  const T first = running[0];
  const T rise = IsLast(c) ? T(1) : std::exp(first - later.scale);
  RowArray<T>(factor, c.rows) = first - RowArray<T>(running, c.rows);
  Exponentials(c.rows, factor);
  later.scale = first;
  return rise;
}
template float Chunked<float>::StartLater(const Unit&, const Chunk&, PrefixState<float>&, float*) const;
template double Chunked<double>::StartLater(const Unit&, const Chunk&, PrefixState<double>&, double*) const;

// exp(c_j − ρ): what the state of later queries counts for at each key.
template <class T>
void Chunked<T>::FactorsOfKeys(const Unit& u, const Chunk& c, const PrefixState<T>& later, T* factor) const {
  RowArray<T>(factor, c.rows) = RowArray<T>(KeyScale(u, c), c.rows) - later.scale;
  Exponentials(c.rows, factor);
}
template void Chunked<float>::FactorsOfKeys(const Unit&, const Chunk&, const PrefixState<float>&,
                                            float*) const;
template void Chunked<double>::FactorsOfKeys(const Unit&, const Chunk&, const PrefixState<double>&,
                                             double*) const;

// U and u of the queries from this chunk on, relative to the chunk's first running scale.
template <class T>
void Chunked<T>::AddToLater(const Unit& u, const Chunk& c, PrefixState<T>& later) const {
  const Scratch& w = u.w;
  const Index rows = c.rows, vd = shape_.value_dim, local = c.local();
  T factor[kChunk], *through = w.dphi_q;
  const T rise = StartLater(u, c, later, factor);
  if (!IsLast(c)) {
    later.S() *= rise;
    later.Z() *= rise;
  }
  ForQueries(u.key_head, [&](Index i, Index h) {
    const Index at = i * segment_length() + local;
    for (Index r = 0; r < rows; ++r) ScaleRow(m_, factor[r], PhiQ(u, h, c) + r * m_, through + r * m_);
    Gemm(Op::kTranspose, Op::kNone, m_, vd, rows, {through, m_}, {w.dnum + at * vd, vd}, T(1), later.s, vd,
         operands_);
    AddRows(rows, m_, through, w.dden + at, T(1), later.z);
  });
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
  T *phi_k = PhiK(u, c), *dphi_k = w.dphi_k + local * m_, *through = w.dphi_q;
  if (!IsLast(c)) {
    Gemm(Op::kNone, Op::kTranspose, rows, m_, vd, {values.row(c.begin), values.stride}, {later.s, vd}, T(0),
         through, m_, operands_);
    T factor[kChunk];
    FactorsOfKeys(u, c, later, factor);
    for (Index j = 0; j < rows; ++j) {
      T *dphi = dphi_k + j * m_, *phi = phi_k + j * m_, *row = through + j * m_;
      ForLanes<T>(m_, [&](auto at) {
        at.Store(dphi, at.Load(dphi) + factor[j] * (at.Load(row) + at.Load(later.z)));
        at.Store(row, factor[j] * at.Load(phi));
      });
    }
    Gemm(Op::kNone, Op::kNone, rows, vd, m_, {through, m_}, {later.s, vd}, T(1), dvalues.row(c.begin),
         dvalues.stride, operands_);
  }
  if (!c.IsFirst()) AddToLater(u, c, later);
  MultiplyBy(rows * m_, phi_k, dphi_k);
  const auto dkeys = KeyHead(k_->grad, u);
  map_->Backward(u.key_head, rows, From(KeyHead(k_->value, u), c.begin),
                 {dphi_k, /*constant=*/true, operands_}, beta, {dkeys.row(c.begin), dkeys.stride},
                 Partial(u.b, u.key_head));
}
template void Chunked<float>::BackwardKeys(const Unit&, const Chunk&, float, PrefixState<float>&) const;
template void Chunked<double>::BackwardKeys(const Unit&, const Chunk&, double, PrefixState<double>&) const;

}  // namespace dark
