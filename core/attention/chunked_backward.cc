#include <algorithm>

#include "core/attention/chunked.h"
#include "core/tensor/matmul.h"

namespace dark {
namespace {

// A row of scores to weights∘scores, and of dnum·vᵀ to dP. Pairs ahead become 0.
template <class T>
void WeighGradients(Index i, Index rows, const T* weights, T dden, T* scores, T* dscores) {
  const Index pairs = PairsOfRow<T>(i, rows);
  ForLanes<T>(pairs, [&](auto at) {
    const auto weight = at.Load(weights);
    at.Store(scores, weight * at.Load(scores));
    at.Store(dscores, weight * (at.Load(dscores) + dden));
  });
  std::fill(scores + pairs, scores + rows, T(0));
  std::fill(dscores + pairs, dscores + rows, T(0));
}

}  // namespace

template <class T>
void Chunked<T>::Backward() const {
  const GradientBetas<T> betas{q_->Beta(), k_->Beta(), v_->Beta()};
  const Index size = map_->partial_size();
  std::fill(partials_, partials_ + shape_.batch * shape_.key_heads * size, T(0));
  ForUnits([&](const Unit& u) { BackwardUnit(u, betas); });
  if (size == 0) return;
  for (Index b = 0; b < shape_.batch; ++b) {
    for (Index g = 0; g < shape_.key_heads; ++g) map_->AddPartial(g, Partial(b, g));
  }
}
template void Chunked<float>::Backward() const;
template void Chunked<double>::Backward() const;

// Segments from the last to the first; in each, chunks forward from the saved state, then back from the state
// of the future.
template <class T>
void Chunked<T>::BackwardUnit(const Unit& u, GradientBetas<T> betas) const {
  if (u.key_head % shape_.keys_per_value() > 0) betas.v = T(1);  // another key head has added to dv
  PrefixState<T> state{u.w.s, u.w.z, m_, shape_.value_dim};
  PrefixState<T> later{u.w.later_s, u.w.later_z, m_, shape_.value_dim};
  later.Clear();
  for (Index segment = (segments() - 1) * kSegment; segment >= 0; segment -= kSegment) {
    state.Load(SavedState(u, segment));
    const Index end = std::min(segment + kSegment, shape_.context);
    Index begin = segment;
    for (; begin < end; begin += kChunk) {
      const Chunk c = ChunkAt(begin, segment);
      if (!keeps_features_) KeyFeatures(u, c);
      Weights(u, c, state.scale);
      ForQueries(u.key_head, [&](Index i, Index h) {
        OutputGradients(u, i, h, c);
        BackwardQueries(u, i, h, c, state, betas);
      });
      if (begin + kChunk < end) AddToState(u, c, state);
    }
    while (begin > segment) BackwardKeys(u, ChunkAt(begin -= kChunk, segment), betas.k, later);
  }
}

// out = num/den:  dnum = dout/den,  dden = −(dout·out)/den; a row that underflowed has neither.
template <class T>
void Chunked<T>::OutputGradients(const Unit& u, Index i, Index h, const Chunk& c) const {
  const auto out = OutHead(out_->value, u.b, h), dout = OutHead(out_->grad, u.b, h);
  const Index vd = shape_.value_dim, at = i * segment_length() + c.local();
  for (Index r = 0; r < c.rows; ++r) {
    const Index t = c.begin + r;
    const T denominator = Denominator(u.b, h)[t];
    const T inverse = denominator == T(0) ? T(0) : T(1) / denominator;
    ScaleRow(vd, inverse, dout.row(t), u.w.dnum + (at + r) * vd);
    u.w.dden[at + r] = -inverse * RowDot(vd, dout.row(t), out.row(t));
    const Index ahead = std::min(t + kChunk, shape_.context - 1);
    ReadAhead(vd, dout.row(ahead));
    ReadAhead(vd, out.row(ahead));
  }
}

// One chunk, in forward order. With P_ij = φ(q_i)·φ(k_j) and weights w_ij:
//   dP_ij = w_ij (dnum_i·v_j + dden_i),  dφ(q_i) = Σ_j dP_ij φ(k_j) + carry_i (S dnum_i + z dden_i)
// and the in-chunk parts of dφ(k_j) = Σ_i dP_ij φ(q_i) and dv_j = Σ_i w_ij P_ij dnum_i.
template <class T>
void Chunked<T>::BackwardQueries(const Unit& u, Index i, Index h, const Chunk& c, const PrefixState<T>& state,
                                 const GradientBetas<T>& betas) const {
  const Scratch& w = u.w;
  const T key_beta = i > 0 ? T(1) : T(0), value_beta = i > 0 ? T(1) : betas.v;
  const Index rows = c.rows, vd = shape_.value_dim, at = i * segment_length() + c.local();
  const auto values = ValueHead(v_->value, u), dvalues = ValueHead(v_->grad, u);
  const auto queries = From(QueryHead(q_->value, u.b, h), c.begin);
  T *phi_q = PhiQ(u, h, c), *phi_k = PhiK(u, c), *dnum = w.dnum + at * vd;
  const T* dden = w.dden + at;

  if (!keeps_features_) QueryFeatures(u, h, c);
  Gemm(Op::kNone, Op::kTranspose, rows, rows, m_, {phi_q, m_}, {phi_k, m_}, T(0), w.scores, rows, operands_,
       kResult);
  Gemm(Op::kNone, Op::kTranspose, rows, rows, vd, {dnum, vd}, {values.row(c.begin), values.stride}, T(0),
       w.dscores, rows, operands_, kResult);
  for (Index r = 0; r < rows; ++r)
    WeighGradients(r, rows, w.weights + r * kChunk, dden[r], w.scores + r * rows, w.dscores + r * rows);

  if (!c.IsFirst()) {
    Gemm(Op::kNone, Op::kTranspose, rows, m_, vd, {dnum, vd}, {state.s, vd}, T(0), w.dphi_q, m_, operands_);
    for (Index r = 0; r < rows; ++r) {
      T* dphi = w.dphi_q + r * m_;
      ForLanes<T>(m_, [&](auto lanes) {
        lanes.Store(dphi, w.carry[r] * (lanes.Load(dphi) + dden[r] * lanes.Load(state.z)));
      });
    }
  }
  Gemm(Op::kNone, Op::kNone, rows, m_, rows, {w.dscores, rows}, {phi_k, m_}, c.IsFirst() ? T(0) : T(1),
       w.dphi_q, m_, operands_, kLeft);
  Gemm(Op::kTranspose, Op::kNone, rows, m_, rows, {w.dscores, rows}, {phi_q, m_}, key_beta,
       w.dphi_k + c.local() * m_, m_, operands_, kLeft);
  Gemm(Op::kTranspose, Op::kNone, rows, vd, rows, {w.scores, rows}, {dnum, vd}, value_beta,
       dvalues.row(c.begin), dvalues.stride, operands_, kLeft);

  MultiplyBy(rows * m_, phi_q, w.dphi_q);  // a = log φ: da = dφ·φ
  const auto dq = QueryHead(q_->grad, u.b, h);
  map_->Backward(u.key_head, rows, queries, {w.dphi_q, /*constant=*/false, operands_}, betas.q,
                 {dq.row(c.begin), dq.stride}, Partial(u.b, u.key_head));
}
template void Chunked<float>::BackwardQueries(const Unit&, Index, Index, const Chunk&,
                                              const PrefixState<float>&, const GradientBetas<float>&) const;
template void Chunked<double>::BackwardQueries(const Unit&, Index, Index, const Chunk&,
                                               const PrefixState<double>&,
                                               const GradientBetas<double>&) const;

}  // namespace dark
