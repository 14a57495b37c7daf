#include "core/tensor/bf16_matmul.h"

#if defined(__AVX512BF16__)

#include <algorithm>

#include "core/tensor/arena.h"
#include "core/tensor/bf16_kernel.h"
#include "core/tensor/round_up.h"

namespace dark {
namespace {

// A block of B, the rows of C that meet it and a block of A stay in the second-level cache. As deep as the
// columns of B allow, so that sums stay in registers: passes short enough for the first level read and write
// C more often, and were slower. Not so shallow that C is read and written for little work.
constexpr Index kBlock = 640 * 1024, kShallow = 768, kDeep = 1024;
constexpr Index kRows = kBf16Panel, kRowsTransposed = 128;  // of a transposed A, whole cache lines are read

Index WholePanels(Index count) { return count / kBf16Panel * kBf16Panel; }

/// Equal parts of at most `most`, in whole panels (and groups).
Index PartSize(Index total, Index most) {
  const Index parts = (total + most - 1) / most;
  return RoundUp((total + parts - 1) / parts, kBf16Panel);
}

struct LeftOperand {
  Op op;
  OperandView<float> a;

  void Pack(Index row, Index rows, Index from, Index depth, Bf16* out) const {
    const OperandView<float> part = a.At(op, row, from);
    if (op == Op::kNone) return PackBf16<true, true>(rows, depth, part, out);
    PackBf16<true, false>(rows, depth, part, out);
  }
};

/// Columns [col, col + cols) and products [from, from + depth) of op(B).
void PackRight(Op op, const OperandView<float>& b, Index col, Index cols, Index from, Index depth,
               Bf16* out) {
  const OperandView<float> part = b.At(op, from, col);
  if (op == Op::kTranspose) return PackBf16<false, true>(cols, depth, part, out);
  PackBf16<false, false>(cols, depth, part, out);
}

/// A packed right operand, or a part of one that begins with a panel and a group.
struct RightOperand {
  const Bf16* data;
  Index groups;  ///< of a panel

  const Bf16* At(Index col, Index from) const {
    return data + col / kBf16Panel * groups * kBf16GroupSize + from / kBf16Group * kBf16GroupSize;
  }
};

struct Result {
  float* c;
  Index ldc;
  float beta;
};

/// Tells the thread which kernel it uses, and gives back the matrix unit's state at the end: while a thread
/// holds any, the system must save 8 KiB more of it.
class Unit {
 public:
#if defined(__AMX_BF16__)
  Unit() : tiles_(MayUseTiles()) {
    if (tiles_) _tile_loadconfig(&kTileShapes);
  }
  ~Unit() {
    if (tiles_) _tile_release();
  }
  Unit(const Unit&) = delete;
  Unit& operator=(const Unit&) = delete;
  Bf16Kernel kernel() const { return tiles_ ? Bf16TileKernel : Bf16DotKernel; }

 private:
  bool tiles_;
#else
  static Bf16Kernel kernel() { return Bf16DotKernel; }
#endif
};

/// One block of at most 32 × 32 sums, in place or, at an edge or for a beta of its own, beside C.
void MultiplyTile(Bf16Kernel kernel, Index groups, const Bf16* a, const Bf16* b, Index rows, Index cols,
                  const Result& to) {
  if (rows == kBf16Panel && cols == kBf16Panel && (to.beta == 0 || to.beta == 1))
    return kernel(groups, a, b, to.beta == 0, to.c, to.ldc);
  alignas(64) float sums[kBf16Panel * kBf16Panel];
  if (to.beta != 0) {
    std::fill(std::begin(sums), std::end(sums), 0.0F);
    for (Index i = 0; i < rows; ++i)
      for (Index j = 0; j < cols; ++j) sums[i * kBf16Panel + j] = to.beta * to.c[i * to.ldc + j];
  }
  kernel(groups, a, b, to.beta == 0, sums, kBf16Panel);
  for (Index i = 0; i < rows; ++i)
    std::copy(sums + i * kBf16Panel, sums + i * kBf16Panel + cols, to.c + i * to.ldc);
}

struct PackMemory {
  float *a = nullptr, *b = nullptr;
  Arena<float> arena;
  PackMemory() {
    arena.Plan(&a, kRowsTransposed * kDeep / 2);
    arena.Plan(&b, kBlock / 2);
    arena.Allocate();
  }
  Bf16* A() const { return reinterpret_cast<Bf16*>(a); }
  Bf16* B() const { return reinterpret_cast<Bf16*>(b); }
};

PackMemory& Memory() {
  thread_local PackMemory memory;
  return memory;
}

/// C[m×n] = A·B + beta·C over products [from, from + k) of A and `b`, a block of B.
void MultiplyBlock(Bf16Kernel kernel, Index m, Index n, Index k, const LeftOperand& left, Index from,
                   const RightOperand& b, Result to) {
  Bf16* packed = Memory().A();
  const Index groups = Bf16Groups(k), row_block = left.op == Op::kNone ? kRows : kRowsTransposed;
  for (Index row = 0; row < m; row += row_block) {
    const Index rows = std::min(row_block, m - row);
    left.Pack(row, rows, from, k, packed);
    for (Index i = 0; i < rows; i += kBf16Panel)
      for (Index j = 0; j < n; j += kBf16Panel)
        MultiplyTile(kernel, groups, packed + i * groups * kBf16Group, b.At(j, 0),
                     std::min(kBf16Panel, rows - i), std::min(kBf16Panel, n - j),
                     {to.c + (row + i) * to.ldc + j, to.ldc, to.beta});
  }
}

/// `right(col, cols, from, depth)` is the part of B, packed.
template <class Right>
void MultiplyBlocks(Index m, Index n, Index k, const LeftOperand& left, const Right& right,
                    const Result& to) {
  const Unit unit;
  const Index depth = PartSize(k, std::clamp(WholePanels(kBlock / RoundUp(n, kBf16Panel)), kShallow, kDeep)),
              width = PartSize(n, WholePanels(kBlock / depth));
  for (Index col = 0; col < n; col += width) {
    const Index cols = std::min(width, n - col);
    for (Index from = 0; from < k; from += depth) {
      const Index products = std::min(depth, k - from);
      MultiplyBlock(unit.kernel(), m, cols, products, left, from, right(col, cols, from, products),
                    {to.c + col, to.ldc, from == 0 ? to.beta : 1});
    }
  }
}

}  // namespace

void Bf16Gemm(Op op_a, Op op_b, Index m, Index n, Index k, const OperandView<float>& a,
              const OperandView<float>& b, float beta, float* c, Index ldc) {
  const auto right = [&](Index col, Index cols, Index from, Index depth) {
    PackRight(op_b, b, col, cols, from, depth, Memory().B());
    return RightOperand{Memory().B(), Bf16Groups(depth)};
  };
  MultiplyBlocks(m, n, k, {op_a, a}, right, {c, ldc, beta});
}

void Bf16Gemm(Op op_a, Index m, Index n, Index k, const OperandView<float>& a, const PackedB<float>& b,
              float beta, float* c, Index ldc) {
  const RightOperand whole{reinterpret_cast<const Bf16*>(b.data), Bf16Groups(b.k)};
  // Rows of B after the first k in their group: A's zeros would meet them, and 0·∞ is NaN.
  const Index rest = k < b.k ? k % kBf16Group : 0, even = k - rest;
  const auto right = [&](Index col, Index, Index from, Index) {
    return RightOperand{whole.At(col, from), whole.groups};
  };
  if (even > 0) MultiplyBlocks(m, n, even, {op_a, a}, right, {c, ldc, beta});
  if (rest == 0) return;
  const auto last = [&](Index col, Index cols, Index, Index) {
    Bf16* to = Memory().B();
    for (Index j = 0; j < cols; j += kBf16Panel, to += kBf16GroupSize) {
      const Bf16* from = whole.At(col + j, even);
      for (Index t = 0; t < kBf16GroupSize; ++t)
        to[t] = t % kBf16Tile / 32 * 2 + t % 2 < rest ? from[t] : Bf16{0};
    }
    return RightOperand{Memory().B(), 1};
  };
  const OperandView<float> part = a.At(op_a, 0, even);
  MultiplyBlocks(m, n, rest, {op_a, part}, last, {c, ldc, even > 0 ? 1 : beta});
}

Index Bf16PackedSize(Index n, Index k) { return RoundUp(n, kBf16Panel) * RoundUp(k, kBf16Panel) / 2; }

void Bf16PackColumns(Op op_b, Index begin, Index end, const OperandView<float>& b,
                     const PackedB<float>& packed) {
  PackRight(
      op_b, b, begin, end - begin, 0, packed.k,
      reinterpret_cast<Bf16*>(packed.data) + begin / kBf16Panel * Bf16Groups(packed.k) * kBf16GroupSize);
}

}  // namespace dark

#endif
