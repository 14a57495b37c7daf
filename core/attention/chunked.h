#pragma once

#include <algorithm>
#include <array>

#include "core/attention/chunk.h"
#include "core/attention/feature_attention.h"
#include "core/tensor/parallel.h"

namespace dark {

/// Causal attention over features by chunks of kChunk tokens. The forward pass keeps its state at every
/// segment's start; the backward pass takes a segment's features again and holds them while it works on the
/// segment, so that its working memory is the same for every T. Only features so few that a layer's stay in
/// the caches are kept from the forward pass; the bits are the same.
template <class T>
class Chunked : public FeatureAttention<T> {
 public:
  /// Features of up to `most_kept` bytes are kept.
  Chunked(Tape<T>& tape, const std::string& name, const HeadShape& shape, std::shared_ptr<FeatureMap<T>> map,
          Node<T>* q, Node<T>* k, Node<T>* v, Index most_kept)
      : Chunked(tape, name, shape, std::move(map), q, k, v, {most_kept, sizeof(T), 0}) {}

  Node<T>* out() const override { return out_; }
  FeatureMap<T>& map() const override { return *map_; }
  NormaliserHealth Health() const override;

  void Forward() const;
  void Backward() const;

 protected:
  struct Memory {
    Index most_kept;     ///< bytes of features
    Index feature_size;  ///< bytes of one that is kept
    Index packed;        ///< elements of a thread's memory for packed operands
  };
  Chunked(Tape<T>& tape, const std::string& name, const HeadShape& shape, std::shared_ptr<FeatureMap<T>> map,
          Node<T>* q, Node<T>* k, Node<T>* v, const Memory& memory);

  static constexpr Index kSegment = 8 * kChunk;

  /// Working memory of one thread. Sizes: C = kChunk, L = tokens of a segment, Q = query heads that share a
  /// key head, d = value_dim. Features that are kept have their own memory, and none here.
  struct Scratch {
    T *s, *z, *later_s, *later_z;              // m·d, m, m·d, m: states of the past and of the future
    T *scores, *dscores, *weights, *carry;     // C·C, C·C, C·C, C
    T *phi_k, *key_scale, *running;            // L·m, L, L
    T *phi_q, *dphi_k, *dnum, *dden, *dphi_q;  // Q·L·m, L·m, Q·L·d, Q·L, C·m
    T* packed;
  };
  /// Tokens [begin, begin + rows) of a sequence, in the segment that starts at token `segment`.
  struct Chunk {
    Index begin, rows, segment;
    bool IsFirst() const { return begin == 0; }      ///< nothing comes in
    Index local() const { return begin - segment; }  ///< where the chunk stands in memory of a segment
  };
  Chunk ChunkAt(Index begin, Index segment) const {
    return {begin, std::min(kChunk, shape_.context - begin), segment};
  }
  bool IsLast(const Chunk& c) const { return c.begin + c.rows == shape_.context; }
  /// One key head of one sequence, with the memory of the thread that works on it.
  struct Unit {
    Index b, key_head;
    Scratch w;
  };

  std::array<Index, 17> ScratchSizes() const;
  Scratch ThreadScratch() const;
  Index segment_length() const { return std::min(kSegment, shape_.context); }
  Index segments() const { return (shape_.context + kSegment - 1) / kSegment; }
  T* SavedState(const Unit& u, Index segment) const;

  /// Units are value heads: key heads that share values add to dv in a fixed order.
  template <class Body>
  void ForUnits(const Body& body) const {
    const Index group = shape_.keys_per_value();
    ParallelFor(shape_.batch * shape_.value_heads, [&](Index unit) {
      const Index b = unit / shape_.value_heads, g = unit % shape_.value_heads;
      for (Index key_head = g * group; key_head < (g + 1) * group; ++key_head)
        body(Unit{b, key_head, ThreadScratch()});
    });
  }
  template <class Body>
  void ForQueries(Index key_head, const Body& body) const {
    const Index group = shape_.queries_per_key();
    for (Index i = 0; i < group; ++i) body(i, key_head * group + i);
  }

  HeadView<T> QueryHead(T* data, Index b, Index h) const {
    return Head(data, q_->cols, shape_.context, b, h, shape_.dim);
  }
  HeadView<T> KeyHead(T* data, const Unit& u) const {
    return Head(data, k_->cols, shape_.context, u.b, u.key_head, shape_.dim);
  }
  HeadView<T> ValueHead(T* data, const Unit& u) const {
    return Head(data, v_->cols, shape_.context, u.b, u.key_head / shape_.keys_per_value(), shape_.value_dim);
  }
  HeadView<T> OutHead(T* data, Index b, Index h) const {
    return Head(data, out_->cols, shape_.context, b, h, shape_.value_dim);
  }
  static ConstHead<T> From(HeadView<T> view, Index t) { return {view.row(t), view.stride}; }
  template <class E>
  static HeadView<const E> Const(HeadView<E> view) {
    return {view.data, view.stride};
  }
  /// φ(k) of a chunk [rows × m] and its scales [rows], φ(q) of a query head.
  T* PhiK(const Unit& u, const Chunk& c) const {
    return keeps_features_ ? Kept(kept_phi_k_, KeyHeadIndex(u), m_, c) : u.w.phi_k + c.local() * m_;
  }
  T* KeyScale(const Unit& u, const Chunk& c) const {
    return keeps_features_ ? Kept(kept_key_scale_, KeyHeadIndex(u), 1, c) : u.w.key_scale + c.local();
  }
  T* PhiQ(const Unit& u, Index h, const Chunk& c) const {
    if (keeps_features_) return Kept(kept_phi_q_, u.b * shape_.heads + h, m_, c);
    return u.w.phi_q + (h % shape_.queries_per_key() * segment_length() + c.local()) * m_;
  }
  Index KeyHeadIndex(const Unit& u) const { return u.b * shape_.key_heads + u.key_head; }
  /// A head's rows of `width` values, floats or bfloat16, begin with a cache line.
  Index KeptSize(Index width) const { return RoundUp(shape_.context * width, 32); }
  template <class E>
  E* Kept(E* data, Index head, Index width, const Chunk& c) const {
    return data + head * KeptSize(width) + c.begin * width;
  }
  T* Denominator(Index b, Index h) const { return denominator_ + (b * shape_.heads + h) * shape_.context; }
  T* Partial(Index b, Index key_head) const {
    return partials_ + (b * shape_.key_heads + key_head) * map_->partial_size();
  }

  void QueryFeatures(const Unit& u, Index h, const Chunk& c) const;
  void Weights(const Unit& u, const Chunk& c, T before) const;

  void ForwardUnit(const Unit& u) const;
  void BackwardUnit(const Unit& u, GradientBetas<T> betas) const;
  void AddToLater(const Unit& u, const Chunk& c, PrefixState<T>& later) const;
  void FactorsOfKeys(const Unit& u, const Chunk& c, const PrefixState<T>& later, T* factor) const;
  T StartLater(const Unit& u, const Chunk& c, PrefixState<T>& later, T* factor) const;
  void OutputGradients(const Unit& u, Index i, Index h, const Chunk& c) const;

  /// The steps that are made of products, here by Gemm. Head h is the i-th of those that read u's keys.
  virtual void KeyFeatures(const Unit& u, const Chunk& c) const;
  virtual void ForwardQueries(const Unit& u, Index i, Index h, const Chunk& c,
                              const PrefixState<T>& state) const;
  virtual void AddToState(const Unit& u, const Chunk& c, PrefixState<T>& state) const;
  virtual void BackwardQueries(const Unit& u, Index i, Index h, const Chunk& c, const PrefixState<T>& state,
                               const GradientBetas<T>& betas) const;
  virtual void BackwardKeys(const Unit& u, const Chunk& c, T beta, PrefixState<T>& later) const;

  HeadShape shape_;
  std::shared_ptr<FeatureMap<T>> map_;
  Index m_;
  bool keeps_features_;  ///< from the forward to the backward pass
  Operands operands_;    ///< of all products but the logits of features
  Index packed_;
  Node<T>*q_, *k_, *v_, *out_;
  T* denominator_ = nullptr;  // [batch × heads × context], 0 where it underflowed
  T* states_ = nullptr;       // [batch × key_heads × segments × PrefixState size]: state at its start
  // [batch × key_heads (φ(q): heads) × KeptSize of m, or of 1 for the scales]
  T *kept_phi_k_ = nullptr, *kept_phi_q_ = nullptr, *kept_key_scale_ = nullptr;
  T* scratch_ = nullptr;
  T* partials_ = nullptr;  // [batch × key_heads × map partial]
  Index scratch_size_ = 0;
};

}  // namespace dark
