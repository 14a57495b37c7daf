#include "core/attention/chunked_bf16.h"
#include "core/attention/tile_gradients.h"

#if defined(__AVX512BF16__)

namespace dark {
namespace {

/// Of random features, from scores and dnum·vᵀ of a tile: P = weight∘score and dP = weight∘(dnum·vᵀ + dden).
struct WeightedPairs {
  const float *scores, *dp, *weights, *dden;

  PAndDs At(Index row, Index col) const {
    const Index at = row * kTile + col;
    const __m512 weight = _mm512_load_ps(weights + row * kChunk + col);
    return {weight * _mm512_load_ps(scores + at),
            weight * (_mm512_load_ps(dp + at) + _mm512_set1_ps(dden[row]))};
  }
};

}  // namespace

void ChunkedBf16::PackKeys(const Unit& u, const Chunk& c, const PrefixState<float>& state,
                           const ChunkMemory& x) const {
  const auto phi_k = Const(KeptPhiK(u, c));
  const Index vd = shape_.value_dim;
  PackOverColumns<false>(c.rows, m_, phi_k, x.right.phi_k_t);
  PackOverRows<false>(c.rows, m_, phi_k, x.right.phi_k);
  PackOverColumns<false>(c.rows, vd, From(ValueHead(v_->value, u), c.begin), x.right.v_t);
  if (!c.IsFirst()) PackOverColumns<false>(m_, vd, Const(Values(state.s)), x.right.state_t);
  Expand(c.rows * m_, phi_k.data, x.phi);  // AddToState wants it
}

void ChunkedBf16::BackwardQueries(const Unit& u, Index i, Index h, const Chunk& c,
                                  const PrefixState<float>& state, const GradientBetas<float>& betas) const {
  const Scratch& w = u.w;
  const ChunkMemory x = MemoryOf(u, c);
  const Index rows = c.rows, vd = shape_.value_dim, at = i * segment_length() + c.local();
  const auto phi_q = Const(KeptPhiQ(u, h, c));
  const auto dnum = Const(Values(w.dnum + at * vd));
  const auto dv = ValueHead(v_->grad, u), dq = QueryHead(q_->grad, u.b, h), v = ValueHead(v_->value, u);
  if (i == 0) PackKeys(u, c, state, x);
  PackOverColumns<true>(rows, m_, phi_q, x.left.phi_q);
  PackOverRows<true>(rows, m_, phi_q, x.left.phi_q_t);
  PackOverColumns<true>(rows, vd, dnum, x.left.dnum);
  PackOverRows<true>(rows, vd, dnum, x.left.dnum_t);

  ProductsOfPairs(u, c, w.dden + at, x);
  AddTransposed(rows, m_, x.feature_strips, i > 0 ? 1 : 0, Features(w.dphi_k + c.local() * m_));
  AddTransposed(rows, vd, x.value_strips, i > 0 ? 1 : betas.v, {dv.row(c.begin), dv.stride});

  // da = dφ∘φ, for a = log φ
  for (Index r = 0; r < rows; ++r) {
    const float carry = w.carry[r], dden = w.dden[at + r];
    const float *own = x.features + r * m_, *carried = x.carried_features + r * m_;
    float* da = w.dphi_q + r * m_;
    Expand(m_, phi_q.row(r), da);
    ForLanes<float>(m_, [&](auto lanes) {
      auto dphi = lanes.Load(own);
      if (!c.IsFirst()) dphi += carry * (lanes.Load(carried) + dden * lanes.Load(state.z));
      lanes.Store(da, dphi * lanes.Load(da));
    });
    ReadAhead(shape_.dim, dq.row(Ahead(c, r)));
    ReadAhead(vd, v.row(Ahead(c, r)));
    ReadAhead(vd, dv.row(Ahead(c, r)));
  }
  map_->Backward(u.key_head, rows, From(QueryHead(q_->value, u.b, h), c.begin),
                 {w.dphi_q, /*constant=*/false, operands_}, betas.q, {dq.row(c.begin), dq.stride},
                 Partial(u.b, u.key_head));
}

// dP·φ(k) and dnum·Sᵀ of a chunk's queries; (dφ(k))ᵀ = φ(q)ᵀ·dP and dvᵀ = dnumᵀ·P of its pairs, in strips.
void ChunkedBf16::ProductsOfPairs(const Unit& u, const Chunk& c, const float* dden,
                                  const ChunkMemory& x) const {
  const auto& left = x.left;
  const auto& right = x.right;
  const Index rows = c.rows, vd = shape_.value_dim;
  const Bf16Blocks<1> blocks;
  const auto of_pairs = [&](const Bf16Packed<1>& a, const Bf16Packed<1>& b, float* tile) {
    for (Index row = 0; row < rows; row += kTile)
      for (Index col = 0; col <= row; col += kTile, tile += kTileSize)
        blocks.Multiply(a.groups, a.At(row, 0), b.At(col, 0), {tile, kTile, kTile, kTile, 0});
  };
  of_pairs(left.phi_q, right.phi_k_t, x.scores);
  of_pairs(left.dnum, right.v_t, x.dp);
  if (!c.IsFirst())
    MultiplyPacked(blocks, rows, m_, left.dnum, right.state_t, 0, Features(x.carried_features));

  alignas(64) float dden_of_tiles[kChunk] = {};
  std::copy_n(dden, rows, dden_of_tiles);
  Index tile = 0;
  for (Index row = 0; row < rows; row += kTile)
    for (Index col = 0; col <= row; col += kTile, tile += kTileSize)
      TileGradients<1, WeightedPairs>(
          {x.scores + tile, x.dp + tile, u.w.weights + row * kChunk + col, dden_of_tiles + row},
          right.p.At(col, row), right.ds.At(col, row), left.ds.At(row, col))
          .Finish();

  for (Index row = 0; row < rows; row += kTile)
    for (Index col = 0; col < m_; col += kTile)
      blocks.Multiply(
          row / kTile + 1, left.ds.At(row, 0), right.phi_k.At(col, 0),
          {x.features + row * m_ + col, m_, std::min(kTile, rows - row), std::min(kTile, m_ - col), 0});
  const auto strips = [&](Index dim, const Bf16Packed<1>& of, const Bf16Packed<1>& pairs, float* sums) {
    for (Index col = 0; col < rows; col += kTile, sums += StripSize(dim))
      for (Index row = 0; row < dim; row += kTile)
        blocks.Multiply(pairs.groups - col / kTile, of.At(row, col), pairs.At(col, col),
                        {sums + row * kTile, kTile, kTile, kTile, 0});
  };
  strips(m_, left.phi_q_t, right.ds, x.feature_strips);
  strips(vd, left.dnum_t, right.p, x.value_strips);
}

}  // namespace dark

#endif
