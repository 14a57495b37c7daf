#include <Eigen/Core>

#include "core/attention/softmax_bf16.h"
#include "core/attention/tile_gradients.h"
#include "core/attention/tile_sums.h"

#if defined(__AVX512BF16__)

namespace dark {
namespace {

/// Queries at a time against a block of keys: as deep are the sums over queries, and their operands stay in
/// the second-level cache.
template <int kTerms>
constexpr Index kTileQueries = kTerms == 1 ? 256 : 128;

template <int kTerms>
struct Memory {
  ScratchCut cut;
  Bf16Packed<kTerms> q, dout;      // left, [queries × dim] and [queries × value_dim], of the head
  Bf16Packed<kTerms> q_t, dout_t;  // left, [dim × queries] and [value_dim × queries], of the head
  Bf16Packed<kTerms> k_t, v_t, k;  // right, [dim × keys], [value_dim × keys], [keys × dim], of a block
  Bf16Packed<kTerms> p, ds;        // right, [queries × keys], of a block
  Bf16Packed<kTerms> ds_left;      // left, [queries × keys], of a row of tiles
  float *dk_t, *dv_t;              // [dim × keys] and [value_dim × keys], of a block of keys
  float *scores, *dp;              // two tiles each
  float *log_sum, *dots;           // as TileGradients wants them, of the head; zeros fill the last tile

  Memory(const SoftmaxShape<float>& x, float* scratch)
      : cut(scratch),
        q(cut.Packed<kTerms>(x.rows, x.dim)),
        dout(cut.Packed<kTerms>(x.rows, x.value_dim)),
        q_t(cut.Packed<kTerms>(x.dim, x.rows)),
        dout_t(cut.Packed<kTerms>(x.value_dim, x.rows)),
        k_t(cut.Packed<kTerms>(kTileKeys, x.dim)),
        v_t(cut.Packed<kTerms>(kTileKeys, x.value_dim)),
        k(cut.Packed<kTerms>(x.dim, kTileKeys)),
        p(cut.Packed<kTerms>(kTileKeys, kTileQueries<kTerms>)),
        ds(cut.Packed<kTerms>(kTileKeys, kTileQueries<kTerms>)),
        ds_left(cut.Packed<kTerms>(kTile, kTileKeys)),
        dk_t(cut.Floats(kTileKeys / kTile * StripSize(x.dim))),
        dv_t(cut.Floats(kTileKeys / kTile * StripSize(x.value_dim))),
        scores(cut.Floats(2 * kTileSize)),
        dp(cut.Floats(2 * kTileSize)),
        log_sum(cut.Floats(RoundUp(x.rows, kTile))),
        dots(cut.Floats(RoundUp(x.rows, kTile))) {}
};

template <int kTerms>
class BackwardHead {
 public:
  BackwardHead(const SoftmaxShape<float>& shape, const SoftmaxGradients<float>& x, float* scratch)
      : shape_(shape), x_(x), memory_(shape, scratch) {}

  void Run() {
    PackQueries();
    for (Index key = 0; key < shape_.rows; key += kTileKeys) {
      const Index keys = std::min(kTileKeys, shape_.rows - key);
      PackKeys(key, keys);
      for (Index begin = key; begin < shape_.rows; begin += kTileQueries<kTerms>) {
        const Index end = std::min(shape_.rows, begin + kTileQueries<kTerms>);
        for (Index query = begin; query < end; query += kTile) RowOfTiles(query, query - begin, key, keys);
        SumOverQueries(begin, end, key, keys);
      }
      blocks_.Finish();
      AddTransposed(keys, shape_.dim, memory_.dk_t, x_.beta.k, {x_.dk.row(key), x_.dk.stride});
      AddTransposed(keys, shape_.value_dim, memory_.dv_t, x_.beta.v, {x_.dv.row(key), x_.dv.stride});
    }
  }

 private:
  void PackQueries() {
    using Row = Eigen::Map<const Eigen::ArrayXf>;
    const Index rows = shape_.rows, vd = shape_.value_dim;
    PackOverColumns<true>(rows, shape_.dim, x_.q, memory_.q);
    PackOverColumns<true>(rows, vd, x_.dout, memory_.dout);
    PackOverRows<true>(rows, shape_.dim, x_.q, memory_.q_t);
    PackOverRows<true>(rows, vd, x_.dout, memory_.dout_t);
    for (Index t = 0; t < RoundUp(rows, kTile); ++t) {
      memory_.log_sum[t] = t < rows ? -kLog2E * x_.log_sum[t] : 0;
      memory_.dots[t] = t < rows ? (Row(x_.dout.row(t), vd) * Row(x_.out.row(t), vd)).sum() : 0;
    }
  }

  void PackKeys(Index key, Index keys) {
    const HeadView<const float> k{x_.k.row(key), x_.k.stride}, v{x_.v.row(key), x_.v.stride};
    memory_.k.groups = Bf16Groups(keys);
    PackOverColumns<false>(keys, shape_.dim, k, memory_.k_t);
    PackOverColumns<false>(keys, shape_.value_dim, v, memory_.v_t);
    PackOverRows<false>(keys, shape_.dim, k, memory_.k);
  }

  /// P and dS of a tile of queries, the `row`-th query of its block, with the keys that they see; dq.
  void RowOfTiles(Index query, Index row, Index key, Index keys) {
    const Index tiles = std::min(RoundUp(keys, kTile), query + kTile - key) / kTile;
    TileGradients<kTerms, SoftmaxPairs> before;  // of the tile before
    for (Index tile = 0; tile < tiles; ++tile) {
      const Index col = tile * kTile;
      float *scores = memory_.scores + tile % 2 * kTileSize, *dp = memory_.dp + tile % 2 * kTileSize;
      const auto meanwhile = [&] { before.Step(); };
      blocks_.Multiply(memory_.q.groups, memory_.q.At(query, 0), memory_.k_t.At(col, 0),
                       {scores, kTile, kTile, kTile, 0}, meanwhile);
      blocks_.Multiply(memory_.dout.groups, memory_.dout.At(query, 0), memory_.v_t.At(col, 0),
                       {dp, kTile, kTile, kTile, 0}, meanwhile);
      if (key + col == query) LeaveOutLaterKeys(scores);
      before.Finish();
      before = {{scores, dp, memory_.log_sum + query, memory_.dots + query},
                memory_.p.At(col, row),
                memory_.ds.At(col, row),
                memory_.ds_left.At(0, col)};
    }
    before.Finish();
    const Index rows = std::min(kTile, shape_.rows - query);
    for (Index col = 0; col < shape_.dim; col += kTile)
      blocks_.Multiply(tiles, memory_.ds_left.data, memory_.k.At(col, 0),
                       {x_.dq.row(query) + col, x_.dq.stride, rows, std::min(kTile, shape_.dim - col),
                        key > 0 ? 1.0F : x_.beta.q});
  }

  /// dkᵀ += qᵀ·dS and dvᵀ += doutᵀ·P over the queries of a block that see a key.
  void SumOverQueries(Index begin, Index end, Index key, Index keys) {
    for (Index col = 0; col < keys; col += kTile) {
      const Index first = std::max(begin, key + col), groups = Bf16Groups(end - first);
      if (first >= end) return;
      const float beta = key + col >= begin ? 0 : 1;
      const auto add = [&](Index dim, const Bf16Packed<kTerms>& left, const Bf16Packed<kTerms>& right,
                           float* sums) {
        for (Index row = 0; row < dim; row += kTile)
          blocks_.Multiply(groups, left.At(row, first), right.At(col, first - begin),
                           {sums + col / kTile * StripSize(dim) + row * kTile, kTile, kTile, kTile, beta});
      };
      add(shape_.dim, memory_.q_t, memory_.ds, memory_.dk_t);
      add(shape_.value_dim, memory_.dout_t, memory_.p, memory_.dv_t);
    }
  }

  const SoftmaxShape<float>& shape_;
  const SoftmaxGradients<float>& x_;
  Memory<kTerms> memory_;
  Bf16Blocks<kTerms> blocks_;
};

}  // namespace

template <int kTerms>
Index Bf16SoftmaxBackward<kTerms>::Scratch(const SoftmaxShape<float>& shape) {
  return Memory<kTerms>(shape, nullptr).cut.used();
}

template <int kTerms>
void Bf16SoftmaxBackward<kTerms>::Run(const SoftmaxShape<float>& shape, const SoftmaxGradients<float>& x,
                                      float* scratch) {
  BackwardHead<kTerms>(shape, x, scratch).Run();
}

template struct Bf16SoftmaxBackward<1>;
#if defined(__AMX_BF16__)
template struct Bf16SoftmaxBackward<3>;
#endif

}  // namespace dark

#endif
