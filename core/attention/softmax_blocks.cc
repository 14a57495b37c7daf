#include "core/attention/softmax_blocks.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/tensor/round_up.h"
#include "core/tensor/rows.h"

namespace dark {
namespace {

// Two blocks of scores stay in the second-level cache, and packed keys that come from there serve many
// queries at a time. Fewer queries than keys: what stands above the diagonal of their last block is computed
// in vain.
constexpr Index kQueries = 128, kKeys = 256;

static_assert(kKeys % kLanes<float> == 0);
static_assert(kKeys % kQueries == 0);  // no block of keys begins among the queries of a block

/// Keys or values of a head in the order in which products read them, block by block: as a right operand
/// [dim × keys] (scores) or [keys × dim] (sums over keys).
template <class T>
struct PackedBlocks {
  Op op;  ///< kTranspose: [dim × keys]
  Index rows, dim;
  Operands operands;
  T* data;

  static Index BlockSize(Index dim) { return std::max(PackedSize<T>(kKeys, dim), PackedSize<T>(dim, kKeys)); }
  static Index Size(Index rows, Index dim) { return (rows + kKeys - 1) / kKeys * BlockSize(dim); }

  PackedB<T> At(Index begin) const {
    const Index keys = std::min(kKeys, rows - begin);
    PackedB<T> block{data + begin / kKeys * BlockSize(dim), keys, dim, operands};
    if (op == Op::kNone) std::swap(block.n, block.k);
    return block;
  }
  void Fill(HeadView<const T> x) const {
    for (Index begin = 0; begin < rows; begin += kKeys) Pack(op, {x.row(begin), x.stride}, At(begin));
  }
};

/// Queries [begin, begin + rows) against keys [key, key + keys); key ≤ begin, and at most the last queries
/// see all of the keys.
struct Pair {
  Index begin, rows, key, keys;
  Index Visible(Index i) const { return std::min(keys, begin + i + 1 - key); }
  Causal Of(Causal::Of what) const { return {what, begin - key}; }
};

template <class Body>
void ForQueries(Index rows, const Body& body) {
  for (Index begin = 0; begin < rows; begin += kQueries) body(begin, std::min(kQueries, rows - begin));
}

template <class Body>
void ForKeys(Index begin, Index rows, const Body& body) {
  for (Index key = 0; key < begin + rows; key += kKeys)
    body(Pair{begin, rows, key, std::min(kKeys, begin + rows - key)});
}

/// Running maximum and sum of a block's queries.
template <class T>
struct Running {
  T max[kQueries], sum[kQueries];
  explicit Running(Index rows) {
    std::fill(max, max + rows, -std::numeric_limits<T>::infinity());
    std::fill(sum, sum + rows, T(0));
  }
};

/// Scores to exp(score − running maximum); earlier sums and outputs are scaled to a maximum that rose. Keys
/// ahead within a register get −∞ and then 0, beyond it 0.
template <class T>
void Exponentials(const Pair& pair, Running<T>& running, T* scores, HeadView<T> out, Index value_dim) {
  const Simd<T> none = Simd<T>{} - std::numeric_limits<T>::infinity();
  for (Index i = 0; i < pair.rows; ++i, scores += kKeys) {
    const Index visible = pair.Visible(i), whole = RoundUp(visible, kLanes<T>);
    T* const last = scores + whole - kLanes<T>;
    StoreSimd(last, FirstLanes<T>(kLanes<T> - (whole - visible), LoadSimd(last), none));
    const T max = RowMax(whole, scores);
    if (!(max <= running.max[i])) {  // also for NaN, which then shows in the output
      const T factor = std::exp(running.max[i] - max);
      running.max[i] = max;
      running.sum[i] *= factor;
      if (pair.key > 0) ScaleRow(value_dim, factor, out.row(pair.begin + i), out.row(pair.begin + i));
    }
    RowSum<T> sum;
    const T shift = running.max[i];
    ForLanes<T>(whole, [&](auto at) {
      const auto power = Exponential<T>(at.Load(scores) - shift);
      at.Store(scores, power);
      sum.Add(power);
    });
    std::fill(scores + whole, scores + RoundUp(pair.keys, kLanes<T>), T(0));
    running.sum[i] += sum.Total();
  }
}

/// Scores to P, and dP = dout·vᵀ to dS.
template <class T>
void ScoreGradients(const Pair& pair, const T* log_sum, const T* dots, T* p, T* ds) {
  for (Index i = 0; i < pair.rows; ++i, p += kKeys, ds += kKeys) {
    const Index visible = pair.Visible(i), whole = RoundUp(visible, kLanes<T>);
    const T shift = log_sum[pair.begin + i], dot = dots[i];
    ForLanes<T>(whole, [&](auto at) {
      const auto power = Exponential<T>(at.Load(p) - shift);
      at.Store(p, power);
      at.Store(ds, power * (at.Load(ds) - dot));
    });
    for (T* row : {p, ds}) {
      T* const last = row + whole - kLanes<T>;
      StoreSimd(last, FirstLanes<T>(kLanes<T> - (whole - visible), LoadSimd(last), Simd<T>{}));
      std::fill(row + whole, row + RoundUp(pair.keys, kLanes<T>), T(0));
    }
  }
}

}  // namespace

template <class T>
Index BlockSoftmaxScratch(const SoftmaxShape<T>& shape) {
  return 2 * PackedBlocks<T>::Size(shape.rows, shape.dim) +
         PackedBlocks<T>::Size(shape.rows, shape.value_dim) + 2 * kQueries * kKeys +
         PackedSize<T>(shape.dim, kQueries) + PackedSize<T>(shape.value_dim, kQueries);
}
template Index BlockSoftmaxScratch(const SoftmaxShape<float>&);
template Index BlockSoftmaxScratch(const SoftmaxShape<double>&);

template <class T>
void BlockSoftmaxForward(const SoftmaxShape<T>& shape, HeadView<const T> q, HeadView<const T> k,
                         HeadView<const T> v, HeadView<T> out, T* log_sum, T* scratch) {
  const Index dim = shape.dim, vd = shape.value_dim;
  const PackedBlocks<T> keys{Op::kTranspose, shape.rows, dim, shape.operands, scratch};
  const PackedBlocks<T> values{Op::kNone, shape.rows, vd, shape.operands,
                               keys.data + keys.Size(shape.rows, dim)};
  T* scores = values.data + values.Size(shape.rows, vd);
  keys.Fill(k);
  values.Fill(v);
  ForQueries(shape.rows, [&](Index begin, Index rows) {
    Running<T> running(rows);
    ForKeys(begin, rows, [&](const Pair& x) {
      Gemm(Op::kNone, rows, x.keys, dim, {q.row(begin), q.stride}, keys.At(x.key), T(0), scores, kKeys,
           x.Of(Causal::Of::kResult));
      Exponentials(x, running, scores, out, vd);
      Gemm(Op::kNone, rows, vd, x.keys, {scores, kKeys}, values.At(x.key), T(x.key > 0 ? 1 : 0),
           out.row(begin), out.stride, x.Of(Causal::Of::kLeft));
    });
    for (Index i = 0; i < rows; ++i) {
      ScaleRow(vd, T(1) / running.sum[i], out.row(begin + i), out.row(begin + i));
      log_sum[begin + i] = running.max[i] + std::log(running.sum[i]);
    }
  });
}
template void BlockSoftmaxForward(const SoftmaxShape<float>&, HeadView<const float>, HeadView<const float>,
                                  HeadView<const float>, HeadView<float>, float*, float*);
template void BlockSoftmaxForward(const SoftmaxShape<double>&, HeadView<const double>, HeadView<const double>,
                                  HeadView<const double>, HeadView<double>, double*, double*);

template <class T>
void BlockSoftmaxBackward(const SoftmaxShape<T>& shape, const SoftmaxGradients<T>& x, T* scratch) {
  const Index dim = shape.dim, vd = shape.value_dim;
  const PackedBlocks<T> keys_t{Op::kTranspose, shape.rows, dim, shape.operands, scratch};
  const PackedBlocks<T> keys{Op::kNone, shape.rows, dim, shape.operands,
                             keys_t.data + keys_t.Size(shape.rows, dim)};
  const PackedBlocks<T> values_t{Op::kTranspose, shape.rows, vd, shape.operands,
                                 keys.data + keys.Size(shape.rows, dim)};
  T* p = values_t.data + values_t.Size(shape.rows, vd);
  T* ds = p + kQueries * kKeys;
  T *packed_q = ds + kQueries * kKeys, *packed_dout = packed_q + PackedSize<T>(dim, kQueries);
  if (x.beta.k == T(0)) x.dk.Clear(shape.rows, dim);
  if (x.beta.v == T(0)) x.dv.Clear(shape.rows, vd);
  keys_t.Fill(x.k);
  keys.Fill(x.k);
  values_t.Fill(x.v);
  ForQueries(shape.rows, [&](Index begin, Index rows) {
    const T *q = x.q.row(begin), *dout = x.dout.row(begin);
    const PackedB<T> queries{packed_q, dim, rows, shape.operands},
        douts{packed_dout, vd, rows, shape.operands};
    Pack(Op::kNone, {q, x.q.stride}, queries);
    Pack(Op::kNone, {dout, x.dout.stride}, douts);
    T dots[kQueries];
    for (Index i = 0; i < rows; ++i) dots[i] = RowDot(vd, x.dout.row(begin + i), x.out.row(begin + i));
    ForKeys(begin, rows, [&](const Pair& pair) {
      const Index n = pair.keys;
      const Causal result = pair.Of(Causal::Of::kResult), left = pair.Of(Causal::Of::kLeft);
      Gemm(Op::kNone, rows, n, dim, {q, x.q.stride}, keys_t.At(pair.key), T(0), p, kKeys, result);
      Gemm(Op::kNone, rows, n, vd, {dout, x.dout.stride}, values_t.At(pair.key), T(0), ds, kKeys, result);
      ScoreGradients(pair, x.log_sum, dots, p, ds);
      Gemm(Op::kNone, rows, dim, n, {ds, kKeys}, keys.At(pair.key), pair.key > 0 ? T(1) : x.beta.q,
           x.dq.row(begin), x.dq.stride, left);
      Gemm(Op::kTranspose, n, dim, rows, {ds, kKeys}, queries, T(1), x.dk.row(pair.key), x.dk.stride, left);
      Gemm(Op::kTranspose, n, vd, rows, {p, kKeys}, douts, T(1), x.dv.row(pair.key), x.dv.stride, left);
    });
  });
}
template void BlockSoftmaxBackward(const SoftmaxShape<float>&, const SoftmaxGradients<float>&, float*);
template void BlockSoftmaxBackward(const SoftmaxShape<double>&, const SoftmaxGradients<double>&, double*);

}  // namespace dark
