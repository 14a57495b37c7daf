#include "core/attention/softmax_bf16.h"
#include "core/attention/tile_softmax.h"
#include "core/tensor/rows.h"

#if defined(__AVX512BF16__)

namespace dark {
namespace {

template <int kTerms>
struct Memory {
  ScratchCut cut;
  Bf16Packed<kTerms> keys, values;  // [dim × keys] and [keys × value_dim], right, of the head
  Bf16Packed<kTerms> queries, p;    // [queries × dim] and [queries × keys], left, of a row of tiles
  float* scores;

  Memory(const SoftmaxShape<float>& shape, float* scratch)
      : cut(scratch),
        keys(cut.Packed<kTerms>(shape.rows, shape.dim)),
        values(cut.Packed<kTerms>(shape.value_dim, shape.rows)),
        queries(cut.Packed<kTerms>(kTile, shape.dim)),
        p(cut.Packed<kTerms>(kTile, kTileKeys)),
        scores(cut.Floats(kTile * kTileKeys)) {}
};

/// Queries [begin, begin + rows), at most a tile of them.
template <int kTerms>
void Queries(const SoftmaxShape<float>& shape, const Memory<kTerms>& memory, Bf16Blocks<kTerms>& blocks,
             Index begin, Index rows, HeadView<float> out, float* log_sum) {
  const Index vd = shape.value_dim;
  TileSoftmax running;
  for (Index key = 0; key < begin + rows; key += kTileKeys) {
    const Index tiles = std::min(kTileKeys, begin + kTile - key) / kTile;
    for (Index tile = 0; tile < tiles; ++tile)
      blocks.Multiply(memory.queries.groups, memory.queries.data, memory.keys.At(key + tile * kTile, 0),
                      {memory.scores + tile * kTileSize, kTile, kTile, kTile, 0});
    if (key + tiles * kTile > begin) LeaveOutLaterKeys(memory.scores + (tiles - 1) * kTileSize);
    const bool rose = running.Raise(tiles, memory.scores);
    for (Index i = 0; i < rows && rose && key > 0; ++i)
      ScaleRow(vd, running.Factor(i), out.row(i), out.row(i));
    running.Exponentials(tiles, memory.scores, memory.p);
    for (Index col = 0; col < vd; col += kTile)
      blocks.Multiply(tiles, memory.p.data, memory.values.At(col, key),
                      {out.row(0) + col, out.stride, rows, std::min(kTile, vd - col), key > 0 ? 1.0F : 0.0F});
    blocks.Finish();
  }
  for (Index i = 0; i < rows; ++i) {
    ScaleRow(vd, running.Scale(i), out.row(i), out.row(i));
    log_sum[i] = running.LogSum(i);
  }
}

}  // namespace

template <int kTerms>
Index Bf16SoftmaxForward<kTerms>::Scratch(const SoftmaxShape<float>& shape) {
  return Memory<kTerms>(shape, nullptr).cut.used();
}

template <int kTerms>
void Bf16SoftmaxForward<kTerms>::Run(const SoftmaxShape<float>& shape, HeadView<const float> q,
                                     HeadView<const float> k, HeadView<const float> v, HeadView<float> out,
                                     float* log_sum, float* scratch) {
  const Memory<kTerms> memory(shape, scratch);
  PackOverColumns<false>(shape.rows, shape.dim, k, memory.keys);
  PackOverRows<false>(shape.rows, shape.value_dim, v, memory.values);
  Bf16Blocks<kTerms> blocks;
  for (Index begin = 0; begin < shape.rows; begin += kTile) {
    const Index rows = std::min(kTile, shape.rows - begin);
    PackOverColumns<true>(rows, shape.dim, {q.row(begin), q.stride}, memory.queries);
    Queries(shape, memory, blocks, begin, rows, {out.row(begin), out.stride}, log_sum + begin);
  }
}
template struct Bf16SoftmaxForward<1>;
#if defined(__AMX_BF16__)
template struct Bf16SoftmaxForward<3>;
#endif

}  // namespace dark

#endif
