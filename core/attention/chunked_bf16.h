#pragma once

#if defined(__AVX512BF16__)

#include "core/attention/chunk_memory.h"
#include "core/attention/chunked.h"

namespace dark {

/// Chunked with rounded operands. What the products of a chunk share is packed once, scores go from registers
/// into operands, and features are kept for the backward pass as the products read them, rounded.
class ChunkedBf16 final : public Chunked<float> {
 public:
  ChunkedBf16(Tape<float>& tape, const std::string& name, const HeadShape& shape,
              const std::shared_ptr<FeatureMap<float>>& map, Node<float>* q, Node<float>* k, Node<float>* v)
      : Chunked(tape, name, shape, map, q, k, v,
                {std::numeric_limits<Index>::max(), sizeof(Bf16),
                 ChunkMemory(kChunk, map->features(), shape.value_dim, nullptr).cut.used()}) {}

 private:
  ChunkMemory MemoryOf(const Unit& u, const Chunk& c) const {
    return {c.rows, m_, shape_.value_dim, u.w.packed};
  }
  HeadView<float> Features(float* data) const { return {data, m_}; }
  HeadView<float> Values(float* data) const { return {data, shape_.value_dim}; }
  /// What is kept of a chunk [rows × m].
  HeadView<Bf16> KeptPhiK(const Unit& u, const Chunk& c) const {
    return {Kept(reinterpret_cast<Bf16*>(kept_phi_k_), KeyHeadIndex(u), m_, c), m_};
  }
  HeadView<Bf16> KeptPhiQ(const Unit& u, Index h, const Chunk& c) const {
    return {Kept(reinterpret_cast<Bf16*>(kept_phi_q_), u.b * shape_.heads + h, m_, c), m_};
  }
  /// The same row of the next chunk, or this one at the end.
  Index Ahead(const Chunk& c, Index row) const {
    return std::min(c.begin + kChunk + row, shape_.context - 1);
  }

  void KeyFeatures(const Unit& u, const Chunk& c) const override;
  void ForwardQueries(const Unit& u, Index i, Index h, const Chunk& c,
                      const PrefixState<float>& state) const override;
  void AddToState(const Unit& u, const Chunk& c, PrefixState<float>& state) const override;
  void BackwardQueries(const Unit& u, Index i, Index h, const Chunk& c, const PrefixState<float>& state,
                       const GradientBetas<float>& betas) const override;
  void BackwardKeys(const Unit& u, const Chunk& c, float beta, PrefixState<float>& later) const override;

  void Normalise(const Unit& u, Index h, const Chunk& c, const PrefixState<float>& state, const float* sums,
                 const ChunkMemory& x) const;
  void PackKeys(const Unit& u, const Chunk& c, const PrefixState<float>& state, const ChunkMemory& x) const;
  void ProductsOfPairs(const Unit& u, const Chunk& c, const float* dden, const ChunkMemory& x) const;
  void AddFromLater(const Unit& u, const Chunk& c, const PrefixState<float>& later,
                    const ChunkMemory& x) const;
  void AddToLater(const Unit& u, const Chunk& c, PrefixState<float>& later, const ChunkMemory& x) const;
};

}  // namespace dark

#endif
