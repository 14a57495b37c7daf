#include <algorithm>
#include <limits>

#include "core/attention/chunked.h"
#include "core/tensor/matmul.h"

namespace dark {
namespace {

// A row of scores times its weights, and the sum. Pairs ahead become 0.
template <class T>
T WeighScores(Index i, Index rows, const T* weights, T* scores) {
  const Index pairs = PairsOfRow<T>(i, rows);
  RowSum<T> sum;
  ForLanes<T>(pairs, [&](auto at) {
    const auto weighed = at.Load(weights) * at.Load(scores);
    at.Store(scores, weighed);
    sum.Add(weighed);
  });
  std::fill(scores + pairs, scores + rows, T(0));
  return sum.Total();
}

}  // namespace

template <class T>
void Chunked<T>::Forward() const {
  map_->Prepare();
  ForUnits([&](const Unit& u) { ForwardUnit(u); });
}
template void Chunked<float>::Forward() const;
template void Chunked<double>::Forward() const;

template <class T>
void Chunked<T>::ForwardUnit(const Unit& u) const {
  PrefixState<T> state{u.w.s, u.w.z, m_, shape_.value_dim};
  state.Clear();
  for (Index begin = 0; begin < shape_.context; begin += kChunk) {
    if (begin % kSegment == 0) state.Save(SavedState(u, begin));
    const Chunk c = ChunkAt(begin, /*segment=*/begin);
    KeyFeatures(u, c);
    Weights(u, c, state.scale);
    ForQueries(u.key_head, [&](Index i, Index h) { ForwardQueries(u, i, h, c, state); });
    if (!IsLast(c)) AddToState(u, c, state);
  }
}

template <class T>
void Chunked<T>::KeyFeatures(const Unit& u, const Chunk& c) const {
  map_->LogFeatures(u.key_head, c.rows, From(KeyHead(k_->value, u), c.begin), PhiK(u, c), KeyScale(u, c));
  ExponentiateRows(c.rows, m_, PhiK(u, c), KeyScale(u, c));
}
template void Chunked<float>::KeyFeatures(const Unit&, const Chunk&) const;
template void Chunked<double>::KeyFeatures(const Unit&, const Chunk&) const;

template <class T>
void Chunked<T>::QueryFeatures(const Unit& u, Index h, const Chunk& c) const {
  map_->LogFeatures(u.key_head, c.rows, From(QueryHead(q_->value, u.b, h), c.begin), PhiQ(u, h, c), nullptr);
  ExponentiateRows<T>(c.rows, m_, PhiQ(u, h, c), nullptr);
}
template void Chunked<float>::QueryFeatures(const Unit&, Index, const Chunk&) const;
template void Chunked<double>::QueryFeatures(const Unit&, Index, const Chunk&) const;

// From the scales of keys and of the state that came in, all factors that follow from them.
template <class T>
void Chunked<T>::Weights(const Unit& u, const Chunk& c, T before) const {
  ChunkWeights(c.rows, before, KeyScale(u, c), u.w.running + c.local(), u.w.carry, u.w.weights);
}
template void Chunked<float>::Weights(const Unit&, const Chunk&, float) const;
template void Chunked<double>::Weights(const Unit&, const Chunk&, double) const;

// Numerators and normalisers of one chunk of one query head: in-chunk pairs plus the state that came in.
template <class T>
void Chunked<T>::ForwardQueries(const Unit& u, Index /*i*/, Index h, const Chunk& c,
                                const PrefixState<T>& state) const {
  const Index rows = c.rows, vd = shape_.value_dim;
  const Scratch& w = u.w;
  const auto values = ValueHead(v_->value, u), out = OutHead(out_->value, u.b, h);
  QueryFeatures(u, h, c);
  T *phi_q = PhiQ(u, h, c), *carried = w.dphi_q;  // which is free in the forward pass
  T sums[kChunk];
  Gemm(Op::kNone, Op::kTranspose, rows, rows, m_, {phi_q, m_}, {PhiK(u, c), m_}, T(0), w.scores, rows,
       operands_, kResult);
  for (Index i = 0; i < rows; ++i) {
    sums[i] = WeighScores(i, rows, w.weights + i * kChunk, w.scores + i * rows);
    if (c.IsFirst()) continue;
    ScaleRow(m_, w.carry[i], phi_q + i * m_, carried + i * m_);
    sums[i] += RowDot(m_, carried + i * m_, state.z);
  }
  Gemm(Op::kNone, Op::kNone, rows, vd, rows, {w.scores, rows}, {values.row(c.begin), values.stride}, T(0),
       out.row(c.begin), out.stride, operands_, kLeft);
  if (!c.IsFirst())
    Gemm(Op::kNone, Op::kNone, rows, vd, m_, {carried, m_}, {state.s, vd}, T(1), out.row(c.begin), out.stride,
         operands_);
  for (Index i = 0; i < rows; ++i) {
    const bool usable = !(sums[i] <= std::numeric_limits<T>::min());  // NaN is passed on, to be seen
    Denominator(u.b, h)[c.begin + i] = usable ? sums[i] : T(0);
    T* row = out.row(c.begin + i);
    if (usable) {
      ScaleRow(vd, 1 / sums[i], row, row);
    } else {
      std::fill_n(row, vd, T(0));
    }
  }
}
template void Chunked<float>::ForwardQueries(const Unit&, Index, Index, const Chunk&,
                                             const PrefixState<float>&) const;
template void Chunked<double>::ForwardQueries(const Unit&, Index, Index, const Chunk&,
                                              const PrefixState<double>&) const;

// S ← S·exp(scale − r) + Σ_j φ(k_j)·exp(c_j − r) v_jᵀ; the last row of `weights` holds the factors.
template <class T>
void Chunked<T>::AddToState(const Unit& u, const Chunk& c, PrefixState<T>& state) const {
  const Index rows = c.rows;
  const auto values = ValueHead(v_->value, u);
  const T *factor = u.w.weights + (rows - 1) * kChunk, carry = u.w.carry[rows - 1];
  T *phi_k = PhiK(u, c), *scaled = u.w.dphi_q;  // which is free at this point in both passes
  for (Index i = 0; i < rows; ++i) ScaleRow(m_, factor[i], phi_k + i * m_, scaled + i * m_);
  Gemm(Op::kTranspose, Op::kNone, m_, shape_.value_dim, rows, {scaled, m_},
       {values.row(c.begin), values.stride}, carry, state.s, shape_.value_dim, operands_);
  AddRows(rows, m_, phi_k, factor, carry, state.z);
  state.scale = u.w.running[c.local() + rows - 1];
}
template void Chunked<float>::AddToState(const Unit&, const Chunk&, PrefixState<float>&) const;
template void Chunked<double>::AddToState(const Unit&, const Chunk&, PrefixState<double>&) const;

}  // namespace dark
