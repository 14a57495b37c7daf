#include "core/attention/chunked_bf16.h"
#include "core/tensor/bf16.h"

#if defined(__AVX512BF16__)

namespace dark {
namespace {

/// P = weight·score of a row of tiles, as a left operand, and the sums of its rows.
void WeighScores(Index tiles, const float* scores, const float* weights, const Bf16Packed<1>& p,
                 float* sums) {
  for (Index row = 0; row < kTile; ++row) {
    RowSum<float> sum;
    for (Index tile = 0; tile < tiles; ++tile) {
      const float *score = scores + tile * kTileSize + row * kTile,
                  *weight = weights + row * kChunk + tile * kTile;
      const __m512 low = _mm512_load_ps(score) * _mm512_load_ps(weight),
                   high = _mm512_load_ps(score + 16) * _mm512_load_ps(weight + 16);
      StoreLeftRow(low, high, p.At(0, tile * kTile), row);
      sum.Add(low + high);
    }
    sums[row] = sum.Total();
  }
}

}  // namespace

void ChunkedBf16::KeyFeatures(const Unit& u, const Chunk& c) const {
  const ChunkMemory x = MemoryOf(u, c);
  const auto keys = KeyHead(k_->value, u), values = ValueHead(v_->value, u);
  const auto kept = KeptPhiK(u, c);
  float* scale = KeyScale(u, c);
  map_->LogFeatures(u.key_head, c.rows, From(keys, c.begin), x.phi, scale);
  for (Index r = 0; r < c.rows; ++r) {
    ExponentiateRows(1, m_, x.phi + r * m_, scale + r);
    RoundToBf16(x.phi + r * m_, m_, kept.row(r));
    ReadAhead(shape_.dim, keys.row(Ahead(c, r)));
    ReadAhead(shape_.value_dim, values.row(Ahead(c, r)));
  }
}

void ChunkedBf16::ForwardQueries(const Unit& u, Index i, Index h, const Chunk& c,
                                 const PrefixState<float>& state) const {
  const Index rows = c.rows, vd = shape_.value_dim;
  const ChunkMemory x = MemoryOf(u, c);
  const auto& left = x.left;
  const auto& right = x.right;
  if (i == 0) {
    PackOverColumns<false>(rows, m_, Const(KeptPhiK(u, c)), right.phi_k_t);
    PackOverRows<false>(rows, vd, From(ValueHead(v_->value, u), c.begin), right.v);
    if (!c.IsFirst()) PackOverRows<false>(m_, vd, Const(Values(state.s)), right.state);
  }
  const auto queries = QueryHead(q_->value, u.b, h);
  const auto kept = KeptPhiQ(u, h, c);
  float* phi_q = u.w.dphi_q;  // free in the forward pass
  map_->LogFeatures(u.key_head, rows, From(queries, c.begin), phi_q, nullptr);
  for (Index r = 0; r < rows; ++r) {
    ExponentiateRows<float>(1, m_, phi_q + r * m_, nullptr);
    RoundToBf16(phi_q + r * m_, m_, kept.row(r));
    ReadAhead(shape_.dim, queries.row(Ahead(c, r)));
  }
  PackOverColumns<true>(rows, m_, Const(kept), left.phi_q);

  alignas(64) float sums[kChunk];
  const Bf16Blocks<1> blocks;
  float* tile = x.scores;
  for (Index row = 0; row < rows; row += kTile)
    for (Index col = 0; col <= row; col += kTile, tile += kTileSize)
      blocks.Multiply(left.phi_q.groups, left.phi_q.At(row, 0), right.phi_k_t.At(col, 0),
                      {tile, kTile, kTile, kTile, 0});
  if (!c.IsFirst()) MultiplyPacked(blocks, rows, vd, left.phi_q, right.state, 0, Values(x.carried_values));
  tile = x.scores;
  for (Index row = 0; row < rows; row += kTile) {
    WeighScores(row / kTile + 1, tile, u.w.weights + row * kChunk, {left.p.At(row, 0), left.p.groups},
                sums + row);
    tile += (row / kTile + 1) * kTileSize;
  }
  for (Index row = 0; row < rows; row += kTile)
    for (Index col = 0; col < vd; col += kTile)
      blocks.Multiply(
          row / kTile + 1, left.p.At(row, 0), right.v.At(col, 0),
          {x.values + row * vd + col, vd, std::min(kTile, rows - row), std::min(kTile, vd - col), 0});
  Normalise(u, h, c, state, sums, x);
}

// out = (P·v + carry∘(φ(q)·S)) / den,  den = Σ_j P_j + carry·(φ(q)·z)
void ChunkedBf16::Normalise(const Unit& u, Index h, const Chunk& c, const PrefixState<float>& state,
                            const float* sums, const ChunkMemory& x) const {
  const Index vd = shape_.value_dim;
  const auto out = OutHead(out_->value, u.b, h);
  float* denominators = Denominator(u.b, h) + c.begin;
  for (Index i = 0; i < c.rows; ++i) {
    const float carry = u.w.carry[i];
    const float sum = sums[i] + (c.IsFirst() ? 0 : carry * RowDot(m_, u.w.dphi_q + i * m_, state.z));
    const bool usable = !(sum <= std::numeric_limits<float>::min());  // NaN is passed on, to be seen
    denominators[i] = usable ? sum : 0;
    const float inverse = usable ? 1 / sum : 0, *own = x.values + i * vd,
                *carried = x.carried_values + i * vd;
    float* row = out.row(c.begin + i);
    ForLanes<float>(vd, [&](auto at) {
      auto numerator = at.Load(own);
      if (!c.IsFirst()) numerator += carry * at.Load(carried);
      at.Store(row, numerator * inverse);
    });
    ReadAhead(vd, out.row(Ahead(c, i)));
  }
}

void ChunkedBf16::AddToState(const Unit& u, const Chunk& c, PrefixState<float>& state) const {
  const Index rows = c.rows, vd = shape_.value_dim;
  const ChunkMemory x = MemoryOf(u, c);
  const float *factor = u.w.weights + (rows - 1) * kChunk, carry = u.w.carry[rows - 1];
  AddRows(rows, m_, x.phi, factor, carry, state.z);
  PackOverRows<true>(rows, m_, Const(KeptPhiK(u, c)), x.left.phi_k_t);
  PackScaled(rows, vd, factor, From(ValueHead(v_->value, u), c.begin), x.right.scaled);
  if (carry != 1) ScaleRow(m_ * vd, carry, state.s, state.s);
  MultiplyPacked(Bf16Blocks<1>(), m_, vd, x.left.phi_k_t, x.right.scaled, 1, Values(state.s));
  state.scale = u.w.running[c.local() + rows - 1];
}

}  // namespace dark

#endif
