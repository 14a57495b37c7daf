#include <algorithm>
#include <limits>
#include <numeric>

#include "core/attention/chunked.h"
#include "core/attention/chunked_bf16.h"
#include "core/tensor/bf16_matmul.h"
#include "core/tensor/round_up.h"

namespace dark {

template <class T>
Chunked<T>::Chunked(Tape<T>& tape, const std::string& name, const HeadShape& shape,
                    std::shared_ptr<FeatureMap<T>> map, Node<T>* q, Node<T>* k, Node<T>* v,
                    const Memory& memory)
    : shape_(shape),
      map_(std::move(map)),
      m_(map_->features()),
      operands_(tape.operands()),
      packed_(memory.packed),
      q_(q),
      k_(k),
      v_(v) {
  out_ = tape.Activation(name, shape.tokens(), shape.heads * shape.value_dim);
  tape.Keep(&denominator_, shape.tokens() * shape.heads);
  tape.Keep(&states_, shape.batch * shape.key_heads * segments() * PrefixState<T>::Size(m_, shape.value_dim));
  const Index features = shape.tokens() * (shape.heads + shape.key_heads) * m_;
  keeps_features_ = features * memory.feature_size <= memory.most_kept;
  if (keeps_features_) {
    const Index in_element = static_cast<Index>(sizeof(T)) / memory.feature_size;
    tape.Keep(&kept_phi_k_, shape.batch * shape.key_heads * KeptSize(m_) / in_element);
    tape.Keep(&kept_phi_q_, shape.batch * shape.heads * KeptSize(m_) / in_element);
    tape.Keep(&kept_key_scale_, shape.batch * shape.key_heads * KeptSize(1));
  }
  const auto sizes = ScratchSizes();
  scratch_size_ = std::accumulate(sizes.begin(), sizes.end(), Index{0});
  tape.Scratch(&scratch_, scratch_size_ * ThreadCount());
  tape.Scratch(&partials_, shape.batch * shape.key_heads * map_->partial_size());
}

/// In the order of Scratch, each filled up to a cache line.
template <class T>
std::array<Index, 17> Chunked<T>::ScratchSizes() const {
  const Index c = kChunk, l = segment_length(), d = shape_.value_dim, q = shape_.queries_per_key();
  const Index taken = keeps_features_ ? 0 : l;  // tokens whose features are taken again
  std::array<Index, 17> sizes = {m_ * d, m_,        m_ * d,     m_,     c * c,  c * c,
                                 c * c,  c,         taken * m_, taken,  l,      q * taken * m_,
                                 l * m_, q * l * d, q * l,      c * m_, packed_};
  for (Index& size : sizes) size = RoundUp(size, 16);
  return sizes;
}

template <class T>
auto Chunked<T>::ThreadScratch() const -> Scratch {
  T* next = scratch_ + ThreadIndex() * scratch_size_;
  std::array<T*, 17> at;
  const auto sizes = ScratchSizes();
  for (std::size_t i = 0; i < sizes.size(); next += sizes[i++]) at[i] = next;
  return {at[0], at[1],  at[2],  at[3],  at[4],  at[5],  at[6],  at[7], at[8],
          at[9], at[10], at[11], at[12], at[13], at[14], at[15], at[16]};
}

template <class T>
T* Chunked<T>::SavedState(const Unit& u, Index segment) const {
  const Index size = PrefixState<T>::Size(m_, shape_.value_dim);
  return states_ + ((u.b * shape_.key_heads + u.key_head) * segments() + segment / kSegment) * size;
}

template <class T>
NormaliserHealth Chunked<T>::Health() const {
  NormaliserHealth health{std::numeric_limits<double>::infinity(), 0};
  const Index rows = shape_.tokens() * shape_.heads;
  for (Index i = 0; i < rows; ++i) {
    health.min_denominator = std::min(health.min_denominator, static_cast<double>(denominator_[i]));
    if (denominator_[i] == T(0)) ++health.underflow_rows;
  }
  return health;
}
template class Chunked<float>;
template class Chunked<double>;

namespace {

template <class T>
std::shared_ptr<Chunked<T>> MakeChunked(Tape<T>& tape, const std::string& name, const HeadShape& shape,
                                        std::shared_ptr<FeatureMap<T>> map, Node<T>* q, Node<T>* k,
                                        Node<T>* v, Index most_kept) {
#if defined(__AVX512BF16__)
  if constexpr (kOwnBf16<T>) {
    if (tape.operands() == Operands::kBf16)
      return std::make_shared<ChunkedBf16>(tape, name, shape, map, q, k, v);
  }
#endif
  return std::make_shared<Chunked<T>>(tape, name, shape, std::move(map), q, k, v, most_kept);
}

}  // namespace

template <class T>
std::shared_ptr<FeatureAttention<T>> FeatureAttention<T>::Record(Tape<T>& tape, const std::string& name,
                                                                 const HeadShape& shape,
                                                                 std::shared_ptr<FeatureMap<T>> map,
                                                                 Node<T>* q, Node<T>* k, Node<T>* v,
                                                                 Index most_kept) {
  const auto op = MakeChunked(tape, name, shape, std::move(map), q, k, v, most_kept);
  // The recurrence: features of queries and keys, S += φ(k)vᵀ, out = φ(q)S. Pairs within a chunk are our
  // choice.
  const Index m = op->map().features(), queries = shape.tokens() * shape.heads,
              keys = shape.tokens() * shape.key_heads;
  Work work = ProductWork(queries + keys, m, shape.dim, sizeof(T), Operands::kFull);
  work += ProductWork(queries + keys, m, shape.value_dim, sizeof(T), tape.operands());
  work.bytes = StreamWork(1, q->size() + k->size() + v->size() + op->out()->size(), sizeof(T)).bytes;
  tape.Record(
      {"feature_attention", work, BackwardWork(work, tape.operands())}, {q, k, v}, [op] { op->Forward(); },
      [op] { op->Backward(); });
  return op;
}
template class FeatureAttention<float>;
template class FeatureAttention<double>;

}  // namespace dark
