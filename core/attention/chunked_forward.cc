#include <algorithm>
#include <limits>

#include "core/attention/chunked.h"
#include "core/tensor/matmul.h"

namespace dark {

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
    ForQueries(u.key_head, [&](Index, Index h) { ForwardQueries(u, h, c, state); });
    AddToState(u, c, state);
  }
}

template <class T>
void Chunked<T>::KeyFeatures(const Unit& u, const Chunk& c) const {
  ScaledFeatures(*map_, u.key_head, c.rows, From(KeyHead(k_->value, u), c.begin), PhiK(u, c), KeyScale(u, c));
}
template void Chunked<float>::KeyFeatures(const Unit&, const Chunk&) const;
template void Chunked<double>::KeyFeatures(const Unit&, const Chunk&) const;

template <class T>
void Chunked<T>::QueryFeatures(const Unit& u, Index h, const Chunk& c) const {
  ScaledFeatures<T>(*map_, u.key_head, c.rows, From(QueryHead(q_->value, u.b, h), c.begin), PhiQ(u, h, c),
                    nullptr);
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
void Chunked<T>::ForwardQueries(const Unit& u, Index h, const Chunk& c, const PrefixState<T>& state) const {
  const Index rows = c.rows, vd = shape_.value_dim;
  const Scratch& w = u.w;
  const auto values = ValueHead(v_->value, u), out = OutHead(out_->value, u.b, h);
  QueryFeatures(u, h, c);
  const MatrixMap<T> weights(w.weights, rows, rows), phi_q(PhiQ(u, h, c), rows, m_);
  MatrixMap<T> scores(w.scores, rows, rows), carried(w.dphi_q, rows, m_);  // free in the forward pass
  Gemm(Op::kNone, Op::kTranspose, rows, rows, m_, {phi_q.data(), m_}, {PhiK(u, c), m_}, T(0), w.scores, rows,
       operands_, kResult);
  for (Index i = 0; i < rows; ++i) {
    const Index pairs = PairsOfRow<T>(i, rows);
    scores.row(i).head(pairs).array() *= weights.row(i).head(pairs).array();
    scores.row(i).tail(rows - pairs).setZero();
  }
  for (Index i = 0; i < rows; ++i) carried.row(i) = w.carry[i] * phi_q.row(i);
  Gemm(Op::kNone, Op::kNone, rows, vd, rows, {w.scores, rows}, {values.row(c.begin), values.stride}, T(0),
       out.row(c.begin), out.stride, operands_, kLeft);
  Gemm(Op::kNone, Op::kNone, rows, vd, m_, {carried.data(), m_}, {state.s, vd}, T(1), out.row(c.begin),
       out.stride, operands_);
  for (Index i = 0; i < rows; ++i) {
    const T sum = scores.row(i).sum() + carried.row(i) * state.Z();
    RowArray<T> row(out.row(c.begin + i), vd);
    const bool usable = !(sum <= std::numeric_limits<T>::min());  // NaN is passed on, to be seen
    Denominator(u.b, h)[c.begin + i] = usable ? sum : T(0);
    if (usable) {
      row /= sum;
    } else {
      row.setZero();
    }
  }
}

// S ← S·exp(scale − r) + Σ_j φ(k_j)·exp(c_j − r) v_jᵀ; the last row of `weights` holds the factors.
template <class T>
void Chunked<T>::AddToState(const Unit& u, const Chunk& c, PrefixState<T>& state) const {
  const Index rows = c.rows;
  const auto values = ValueHead(v_->value, u);
  const T *factor = u.w.weights + (rows - 1) * rows, carry = u.w.carry[rows - 1];
  const MatrixMap<T> phi_k(PhiK(u, c), rows, m_);
  MatrixMap<T> scaled(u.w.dphi_q, rows, m_);  // free at this point in both passes
  for (Index i = 0; i < rows; ++i) scaled.row(i) = factor[i] * phi_k.row(i);
  Gemm(Op::kTranspose, Op::kNone, m_, shape_.value_dim, rows, {scaled.data(), m_},
       {values.row(c.begin), values.stride}, carry, state.s, shape_.value_dim, operands_);
  state.Z() = carry * state.Z() + scaled.colwise().sum().transpose();
  state.scale = u.w.running[c.local() + rows - 1];
}
template void Chunked<float>::AddToState(const Unit&, const Chunk&, PrefixState<float>&) const;
template void Chunked<double>::AddToState(const Unit&, const Chunk&, PrefixState<double>&) const;

}  // namespace dark
