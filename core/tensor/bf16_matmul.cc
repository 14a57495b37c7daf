#include "core/tensor/bf16_matmul.h"

#if defined(__AVX512BF16__)

#include "core/tensor/bf16_product.h"

namespace dark {
namespace {

template <int kTerms>
void Multiply(Op op_b, const OperandView<float>& b, const Bf16Product<kTerms>& x) {
  x.Run([&](Index col, Index cols, Index from, Index depth) {
    PackBf16Right<kTerms>(op_b, b, col, cols, from, depth, ThreadBf16Memory().B());
    return Bf16Packed<kTerms>{ThreadBf16Memory().B(), Bf16Groups(depth)};
  });
}

template <int kTerms>
Bf16Packed<kTerms> Whole(const PackedB<float>& b) {
  return {reinterpret_cast<Bf16*>(b.data), Bf16Groups(b.k)};
}

template <int kTerms>
void Multiply(const PackedB<float>& b, Bf16Product<kTerms> x) {
  const Bf16Packed<kTerms> whole = Whole<kTerms>(b);
  const Index rest = x.k < b.k ? x.k % kBf16Group : 0, even = x.k - rest;
  x.k = even;
  if (even > 0) {
    x.Run([&](Index col, Index, Index from, Index) {
      return Bf16Packed<kTerms>{whole.At(col, from), whole.groups};
    });
    x.beta = 1;
  }
  if (rest == 0) return;
  x.k = rest;
  x.left.a = x.left.a.At(x.left.op, 0, even);
  x.causal = {};
  x.Run([&](Index col, Index cols, Index, Index) {
    CopyRest(whole, col, cols, even, rest, ThreadBf16Memory().B());
    return Bf16Packed<kTerms>{ThreadBf16Memory().B(), 1};
  });
}

}  // namespace

void Bf16Gemm(Op op_a, Op op_b, Index m, Index n, Index k, const OperandView<float>& a,
              const OperandView<float>& b, float beta, float* c, Index ldc,
              [[maybe_unused]] Operands operands, Causal causal) {
#if defined(__AMX_BF16__)
  if (operands == Operands::kSplit) return Multiply<3>(op_b, b, {m, n, k, {op_a, a}, c, ldc, beta, causal});
#endif
  Multiply<1>(op_b, b, {m, n, k, {op_a, a}, c, ldc, beta, causal});
}

void Bf16Gemm(Op op_a, Index m, Index n, Index k, const OperandView<float>& a, const PackedB<float>& b,
              float beta, float* c, Index ldc, Causal causal) {
#if defined(__AMX_BF16__)
  if (b.operands == Operands::kSplit) return Multiply<3>(b, {m, n, k, {op_a, a}, c, ldc, beta, causal});
#endif
  Multiply<1>(b, {m, n, k, {op_a, a}, c, ldc, beta, causal});
}

Index Bf16PackedSize(Index n, Index k) {
  return Bf16Terms(Operands::kSplit) > 0 ? Bf16PackedFloats<3>(n, k) : Bf16PackedFloats<1>(n, k);
}

void Bf16PackColumns(Op op_b, Index begin, Index end, const OperandView<float>& b,
                     const PackedB<float>& packed) {
  if (packed.operands == Operands::kBf16)
    return PackBf16Right<1>(op_b, b, begin, end - begin, 0, packed.k, Whole<1>(packed).At(begin, 0));
  PackBf16Right<3>(op_b, b, begin, end - begin, 0, packed.k, Whole<3>(packed).At(begin, 0));
}

}  // namespace dark

#endif
