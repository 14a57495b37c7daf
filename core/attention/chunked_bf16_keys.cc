#include "core/attention/chunked_bf16.h"

#if defined(__AVX512BF16__)

namespace dark {

void ChunkedBf16::BackwardKeys(const Unit& u, const Chunk& c, float beta, PrefixState<float>& later) const {
  const ChunkMemory x = MemoryOf(u, c);
  const Index rows = c.rows;
  float* dphi_k = u.w.dphi_k + c.local() * m_;
  if (!IsLast(c)) AddFromLater(u, c, later, x);
  if (!c.IsFirst()) AddToLater(u, c, later, x);
  Expand(rows * m_, KeptPhiK(u, c).data, x.phi);
  MultiplyBy(rows * m_, x.phi, dphi_k);
  const auto dkeys = KeyHead(k_->grad, u);
  map_->Backward(u.key_head, rows, From(KeyHead(k_->value, u), c.begin),
                 {dphi_k, /*constant=*/true, operands_}, beta, {dkeys.row(c.begin), dkeys.stride},
                 Partial(u.b, u.key_head));
}

// dφ(k_j) += factor_j (U v_j + u),  dv_j += factor_j Uᵀφ(k_j)
void ChunkedBf16::AddFromLater(const Unit& u, const Chunk& c, const PrefixState<float>& later,
                               const ChunkMemory& x) const {
  const Index rows = c.rows, vd = shape_.value_dim;
  const auto state = Const(Values(later.s));
  PackOverColumns<true>(rows, m_, Const(KeptPhiK(u, c)), x.left.phi_k);
  PackOverColumns<true>(rows, vd, From(ValueHead(v_->value, u), c.begin), x.left.v);
  PackOverColumns<false>(m_, vd, state, x.right.state_t);
  PackOverRows<false>(m_, vd, state, x.right.state);
  const Bf16Blocks<1> blocks;
  MultiplyPacked(blocks, rows, m_, x.left.v, x.right.state_t, 0, Features(x.features));
  MultiplyPacked(blocks, rows, vd, x.left.phi_k, x.right.state, 0, Values(x.values));

  float factors[kChunk];
  FactorsOfKeys(u, c, later, factors);
  const auto dv = ValueHead(v_->grad, u), dk = KeyHead(k_->grad, u), k = KeyHead(k_->value, u);
  for (Index j = 0; j < rows; ++j) {
    const float factor = factors[j], *of_features = x.features + j * m_, *of_values = x.values + j * vd;
    float *dphi = u.w.dphi_k + (c.local() + j) * m_, *dv_row = dv.row(c.begin + j);
    ForLanes<float>(m_, [&](auto at) {
      at.Store(dphi, at.Load(dphi) + factor * (at.Load(of_features) + at.Load(later.z)));
    });
    ForLanes<float>(vd, [&](auto at) { at.Store(dv_row, at.Load(dv_row) + factor * at.Load(of_values)); });
    ReadAhead(shape_.dim, dk.row(c.begin + j));
    ReadAhead(shape_.dim, k.row(c.begin + j));
  }
}

// U and u of the queries from this chunk on, relative to the chunk's first running scale.
void ChunkedBf16::AddToLater(const Unit& u, const Chunk& c, PrefixState<float>& later,
                             const ChunkMemory& x) const {
  const Index rows = c.rows, vd = shape_.value_dim;
  float factor[kChunk], weight[kChunk];
  const float rise = StartLater(u, c, later, factor);
  if (rise != 1) {
    ScaleRow(m_ * vd, rise, later.s, later.s);
    ScaleRow(m_, rise, later.z, later.z);
  }
  const Bf16Blocks<1> blocks;
  ForQueries(u.key_head, [&](Index i, Index h) {
    const Index at = i * segment_length() + c.local();
    const auto phi_q = Const(KeptPhiQ(u, h, c));
    for (Index r = 0; r < rows; ++r) weight[r] = factor[r] * u.w.dden[at + r];
    Expand(rows * m_, phi_q.data, x.phi);
    AddRows(rows, m_, x.phi, weight, 1.0F, later.z);
    PackOverRows<true>(rows, m_, phi_q, x.left.phi_q_t);
    PackScaled(rows, vd, factor, Const(Values(u.w.dnum + at * vd)), x.right.scaled);
    MultiplyPacked(blocks, m_, vd, x.left.phi_q_t, x.right.scaled, 1, Values(later.s));
  });
}

}  // namespace dark

#endif
