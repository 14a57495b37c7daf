#include "core/attention/feature_attention.h"

#include <algorithm>
#include <vector>

#include "core/attention/chunk.h"
#include "core/tensor/matmul.h"
#include "core/tensor/parallel.h"

namespace dark {
namespace {

template <class T>
class Chunked final : public FeatureAttention<T> {
 public:
  Chunked(Tape<T>& tape, const std::string& name, const HeadShape& shape, std::shared_ptr<FeatureMap<T>> map,
          Node<T>* q, Node<T>* k, Node<T>* v)
      : shape_(shape), map_(std::move(map)), m_(map_->features()), q_(q), k_(k), v_(v) {
    out_ = tape.Activation(name, shape.tokens(), shape.heads * shape.value_dim);
    tape.Scratch(&denominator_, shape.tokens() * shape.heads);
    PlanScratch();
    tape.Scratch(&scratch_, scratch_size_ * ThreadCount());
    tape.Scratch(&partials_, shape.batch * shape.key_heads * map_->partial_size());
  }

  Node<T>* out() const override { return out_; }
  FeatureMap<T>& map() const override { return *map_; }

  NormaliserHealth Health() const override {
    NormaliserHealth health{std::numeric_limits<double>::infinity(), 0};
    const Index rows = shape_.tokens() * shape_.heads;
    for (Index i = 0; i < rows; ++i) {
      health.min_denominator = std::min(health.min_denominator, static_cast<double>(denominator_[i]));
      if (denominator_[i] == T(0)) ++health.underflow_rows;
    }
    return health;
  }

  // Units are value heads: key heads that share values add to dv in a fixed order.
  void Forward() const {
    map_->Prepare();
    ForUnits([&](Index b, Index key_head) { ForwardKeyHead(b, key_head); });
  }

  void Backward() const {
    const Index size = map_->partial_size();
    std::fill(partials_, partials_ + shape_.batch * shape_.key_heads * size, T(0));
    ForUnits([&](Index b, Index key_head) { BackwardKeyHead(b, key_head); });
    if (size == 0) return;
    for (Index b = 0; b < shape_.batch; ++b) {
      for (Index g = 0; g < shape_.key_heads; ++g) map_->AddPartial(g, Partial(b, g));
    }
  }

 private:
  /// Working memory of one thread. Sizes: C = kChunk, Q = query heads that share a key head, d = value_dim.
  struct Scratch {
    T *s, *z;                                  // state m·d, m
    T *scores, *dscores, *weights, *carry;     // C·C, C·C, C·C, C
    T *phi_k, *key_scale, *running;            // T·m, T, T
    T *phi_q, *dphi_k, *dnum, *dden, *dphi_q;  // Q·T·m, T·m, Q·T·d, Q·T, C·m
  };

  template <class Body>
  void ForUnits(const Body& body) const {
    const Index group = shape_.keys_per_value();
    ParallelFor(shape_.batch * shape_.value_heads, [&](Index unit) {
      const Index b = unit / shape_.value_heads, g = unit % shape_.value_heads;
      for (Index key_head = g * group; key_head < (g + 1) * group; ++key_head) body(b, key_head);
    });
  }

  void PlanScratch() {
    const Index c = kChunk, t = shape_.context, d = shape_.value_dim, q = shape_.queries_per_key();
    for (const Index size :
         {m_ * d, m_, c * c, c * c, c * c, c, t * m_, t, t, q * t * m_, t * m_, q * t * d, q * t, c * m_}) {
      offsets_.push_back(scratch_size_);
      scratch_size_ += (size + 15) / 16 * 16;
    }
  }

  Scratch ThreadScratch() const {
    T* base = scratch_ + ThreadIndex() * scratch_size_;
    const auto at = [&](std::size_t i) { return base + offsets_[i]; };
    return {at(0), at(1), at(2), at(3),  at(4),  at(5),  at(6),
            at(7), at(8), at(9), at(10), at(11), at(12), at(13)};
  }

  HeadView<T> QueryHead(T* data, Index b, Index h) const {
    return Head(data, q_->cols, shape_.context, b, h, shape_.dim);
  }
  HeadView<T> KeyHead(T* data, Index b, Index h) const {
    return Head(data, k_->cols, shape_.context, b, h, shape_.dim);
  }
  HeadView<T> ValueHead(T* data, Index b, Index key_head) const {
    return Head(data, v_->cols, shape_.context, b, key_head / shape_.keys_per_value(), shape_.value_dim);
  }
  HeadView<T> OutHead(T* data, Index b, Index h) const {
    return Head(data, out_->cols, shape_.context, b, h, shape_.value_dim);
  }
  static ConstHead<T> From(HeadView<T> view, Index t) { return {view.row(t), view.stride}; }
  T* Denominator(Index b, Index h) const { return denominator_ + (b * shape_.heads + h) * shape_.context; }
  T* Partial(Index b, Index key_head) const {
    return partials_ + (b * shape_.key_heads + key_head) * map_->partial_size();
  }

  template <class Body>
  void ForQueries(Index key_head, const Body& body) const {
    const Index group = shape_.queries_per_key();
    for (Index i = 0; i < group; ++i) body(i, key_head * group + i);
  }

  void ForwardKeyHead(Index b, Index key_head) const;
  void ForwardQueries(Index b, Index h, Index key_head, Index begin, Index rows, const Scratch& w,
                      const T* phi_k, const PrefixState<T>& state) const;
  void AddToState(Index b, Index key_head, Index begin, Index rows, const Scratch& w, const T* phi_k,
                  T running, PrefixState<T>& state) const;
  void BackwardKeyHead(Index b, Index key_head) const;
  void OutputGradients(Index b, Index h, T* dnum, T* dden) const;
  void BackwardQueries(Index b, Index i, Index h, Index key_head, Index begin, Index rows, const Scratch& w,
                       const PrefixState<T>& state) const;
  void BackwardKeys(Index b, Index key_head, const Scratch& w) const;

  HeadShape shape_;
  std::shared_ptr<FeatureMap<T>> map_;
  Index m_;
  Node<T>*q_, *k_, *v_, *out_;
  T* denominator_ = nullptr;  // [batch × heads × context], 0 where it underflowed
  T* scratch_ = nullptr;
  T* partials_ = nullptr;  // [batch × key_heads × map partial]
  std::vector<Index> offsets_;
  Index scratch_size_ = 0;
};

template <class T>
void Chunked<T>::ForwardKeyHead(Index b, Index key_head) const {
  const Scratch w = ThreadScratch();
  PrefixState<T> state{w.s, w.z, m_, shape_.value_dim};
  state.Clear();
  for (Index begin = 0; begin < shape_.context; begin += kChunk) {
    const Index rows = std::min(kChunk, shape_.context - begin);
    ScaledFeatures(*map_, key_head, rows, From(KeyHead(k_->value, b, key_head), begin), w.phi_k, w.key_scale);
    ChunkWeights(rows, state.scale, w.key_scale, w.running, w.carry, w.weights);
    ForQueries(key_head,
               [&](Index, Index h) { ForwardQueries(b, h, key_head, begin, rows, w, w.phi_k, state); });
    AddToState(b, key_head, begin, rows, w, w.phi_k, w.running[rows - 1], state);
  }
}

// Numerators and normalisers of one chunk of one query head: in-chunk pairs plus the state that came in.
template <class T>
void Chunked<T>::ForwardQueries(Index b, Index h, Index key_head, Index begin, Index rows, const Scratch& w,
                                const T* phi_k, const PrefixState<T>& state) const {
  const auto values = ValueHead(v_->value, b, key_head), out = OutHead(out_->value, b, h);
  const Index vd = shape_.value_dim;
  ScaledFeatures<T>(*map_, key_head, rows, From(QueryHead(q_->value, b, h), begin), w.phi_q, nullptr);
  Gemm(Op::kNone, Op::kTranspose, rows, rows, m_, w.phi_q, m_, phi_k, m_, T(0), w.scores, rows);
  MatrixMap<T>(w.scores, rows, rows).array() *= MatrixMap<T>(w.weights, rows, rows).array();
  for (Index i = 0; i < rows; ++i) MatrixMap<T>(w.phi_q, rows, m_).row(i) *= w.carry[i];
  Gemm(Op::kNone, Op::kNone, rows, vd, rows, w.scores, rows, values.row(begin), values.stride, T(0),
       out.row(begin), out.stride);
  Gemm(Op::kNone, Op::kNone, rows, vd, m_, w.phi_q, m_, state.s, vd, T(1), out.row(begin), out.stride);
  for (Index i = 0; i < rows; ++i) {
    const T sum =
        MatrixMap<T>(w.scores, rows, rows).row(i).sum() + MatrixMap<T>(w.phi_q, rows, m_).row(i) * state.Z();
    Eigen::Map<Eigen::Array<T, 1, Eigen::Dynamic>> row(out.row(begin + i), vd);
    const bool usable = !(sum <= std::numeric_limits<T>::min());  // NaN is passed on, to be seen
    Denominator(b, h)[begin + i] = usable ? sum : T(0);
    if (usable) {
      row /= sum;
    } else {
      row.setZero();
    }
  }
}

// S ← S·exp(scale − r) + Σ_j φ(k_j)·exp(c_j − r) v_jᵀ; the last row of `weights` holds the factors.
template <class T>
void Chunked<T>::AddToState(Index b, Index key_head, Index begin, Index rows, const Scratch& w,
                            const T* phi_k, T running, PrefixState<T>& state) const {
  const auto values = ValueHead(v_->value, b, key_head);
  const T* factor = w.weights + (rows - 1) * rows;
  MatrixMap<T> scaled(w.dphi_q, rows, m_);  // free at this point in both passes
  for (Index i = 0; i < rows; ++i)
    scaled.row(i) = factor[i] * Eigen::Map<const Eigen::Matrix<T, 1, Eigen::Dynamic>>(phi_k + i * m_, m_);
  Gemm(Op::kTranspose, Op::kNone, m_, shape_.value_dim, rows, scaled.data(), m_, values.row(begin),
       values.stride, w.carry[rows - 1], state.s, shape_.value_dim);
  state.Z() = w.carry[rows - 1] * state.Z() + scaled.colwise().sum().transpose();
  state.scale = running;
}

template <class T>
void Chunked<T>::BackwardKeyHead(Index b, Index key_head) const {
  const Scratch w = ThreadScratch();
  const Index context = shape_.context;
  ForQueries(key_head, [&](Index i, Index h) {
    OutputGradients(b, h, w.dnum + i * context * shape_.value_dim, w.dden + i * context);
  });
  std::fill(w.dphi_k, w.dphi_k + context * m_, T(0));
  PrefixState<T> state{w.s, w.z, m_, shape_.value_dim};
  state.Clear();
  for (Index begin = 0; begin < context; begin += kChunk) {
    const Index rows = std::min(kChunk, context - begin);
    T* phi_k = w.phi_k + begin * m_;
    ScaledFeatures(*map_, key_head, rows, From(KeyHead(k_->value, b, key_head), begin), phi_k,
                   w.key_scale + begin);
    ChunkWeights(rows, state.scale, w.key_scale + begin, w.running + begin, w.carry, w.weights);
    ForQueries(key_head,
               [&](Index i, Index h) { BackwardQueries(b, i, h, key_head, begin, rows, w, state); });
    AddToState(b, key_head, begin, rows, w, phi_k, w.running[begin + rows - 1], state);
  }
  BackwardKeys(b, key_head, w);
}

// out = num/den:  dnum = dout/den,  dden = −(dout·out)/den; a row that underflowed has neither.
template <class T>
void Chunked<T>::OutputGradients(Index b, Index h, T* dnum, T* dden) const {
  const auto out = OutHead(out_->value, b, h), dout = OutHead(out_->grad, b, h);
  const Index vd = shape_.value_dim;
  using Row = Eigen::Map<Eigen::Matrix<T, 1, Eigen::Dynamic>>;
  for (Index t = 0; t < shape_.context; ++t) {
    const T denominator = Denominator(b, h)[t];
    const T inverse = denominator == T(0) ? T(0) : T(1) / denominator;
    Row(dnum + t * vd, vd) = inverse * Row(dout.row(t), vd);
    dden[t] = -inverse * Row(dout.row(t), vd).dot(Row(out.row(t), vd));
  }
}

// One chunk, in forward order. With P_ij = φ(q_i)·φ(k_j) and weights w_ij:
//   dP_ij = w_ij (dnum_i·v_j + dden_i),  dφ(q_i) = Σ_j dP_ij φ(k_j) + carry_i (S dnum_i + z dden_i)
// and the in-chunk parts of dφ(k_j) = Σ_i dP_ij φ(q_i) and dv_j = Σ_i w_ij P_ij dnum_i.
template <class T>
void Chunked<T>::BackwardQueries(Index b, Index i, Index h, Index key_head, Index begin, Index rows,
                                 const Scratch& w, const PrefixState<T>& state) const {
  const Index vd = shape_.value_dim, at = i * shape_.context + begin;
  const auto values = ValueHead(v_->value, b, key_head), dvalues = ValueHead(v_->grad, b, key_head);
  T *phi_q = w.phi_q + at * m_, *phi_k = w.phi_k + begin * m_, *dnum = w.dnum + at * vd;
  MatrixMap<T> scores(w.scores, rows, rows), dscores(w.dscores, rows, rows), dphi(w.dphi_q, rows, m_);
  const MatrixMap<T> weights(w.weights, rows, rows);
  const Eigen::Map<Eigen::Matrix<T, Eigen::Dynamic, 1>> dden(w.dden + at, rows);

  ScaledFeatures<T>(*map_, key_head, rows, From(QueryHead(q_->value, b, h), begin), phi_q, nullptr);
  Gemm(Op::kNone, Op::kTranspose, rows, rows, m_, phi_q, m_, phi_k, m_, T(0), w.scores, rows);
  scores.array() *= weights.array();
  Gemm(Op::kNone, Op::kTranspose, rows, rows, vd, dnum, vd, values.row(begin), values.stride, T(0), w.dscores,
       rows);
  dscores.array() = (dscores.colwise() + dden).array() * weights.array();

  Gemm(Op::kNone, Op::kTranspose, rows, m_, vd, dnum, vd, state.s, vd, T(0), w.dphi_q, m_);
  for (Index r = 0; r < rows; ++r) dphi.row(r) = w.carry[r] * (dphi.row(r) + dden[r] * state.Z().transpose());
  Gemm(Op::kNone, Op::kNone, rows, m_, rows, w.dscores, rows, phi_k, m_, T(1), w.dphi_q, m_);
  Gemm(Op::kTranspose, Op::kNone, rows, m_, rows, w.dscores, rows, phi_q, m_, T(1), w.dphi_k + begin * m_,
       m_);
  Gemm(Op::kTranspose, Op::kNone, rows, vd, rows, w.scores, rows, dnum, vd, T(1), dvalues.row(begin),
       dvalues.stride);

  dphi.array() *= MatrixMap<T>(phi_q, rows, m_).array();  // a = log φ: da = dφ·φ
  auto dq = QueryHead(q_->grad, b, h);
  map_->Backward(key_head, rows, From(QueryHead(q_->value, b, h), begin), w.dphi_q,
                 {dq.row(begin), dq.stride}, Partial(b, key_head));
}

// Chunks in reverse order with U = Σ φ(q_i) dnum_iᵀ·exp(ρ − r_i) and u likewise with dden, over later queries
// i of all query heads; ρ is the running scale of the first of them, so exp(ρ − r_i) and exp(c_j − ρ) are ≤
// 1:
//   dφ(k_j) += exp(c_j − ρ)(U v_j + u),  dv_j += exp(c_j − ρ) Uᵀφ(k_j)
template <class T>
void Chunked<T>::BackwardKeys(Index b, Index key_head, const Scratch& w) const {
  const Index vd = shape_.value_dim, context = shape_.context;
  const auto keys = KeyHead(k_->value, b, key_head), dkeys = KeyHead(k_->grad, b, key_head);
  const auto values = ValueHead(v_->value, b, key_head), dvalues = ValueHead(v_->grad, b, key_head);
  PrefixState<T> later{w.s, w.z, m_, vd};
  later.Clear();
  for (Index begin = (context - 1) / kChunk * kChunk; begin >= 0; begin -= kChunk) {
    const Index rows = std::min(kChunk, context - begin);
    MatrixMap<T> phi_k(w.phi_k + begin * m_, rows, m_), dphi(w.dphi_k + begin * m_, rows, m_);
    MatrixMap<T> through(w.dphi_q, rows, m_);
    const T first = w.running[begin];
    if (begin + rows < context) {
      Gemm(Op::kNone, Op::kTranspose, rows, m_, vd, values.row(begin), values.stride, later.s, vd, T(0),
           through.data(), m_);
      for (Index j = 0; j < rows; ++j) {
        const T factor = std::exp(w.key_scale[begin + j] - later.scale);
        dphi.row(j) += factor * (through.row(j) + later.Z().transpose());
        through.row(j) = factor * phi_k.row(j);
      }
      Gemm(Op::kNone, Op::kNone, rows, vd, m_, through.data(), m_, later.s, vd, T(1), dvalues.row(begin),
           dvalues.stride);
      const T factor = std::exp(first - later.scale);
      later.S() *= factor;
      later.Z() *= factor;
    }
    ForQueries(key_head, [&](Index i, Index) {
      const Index at = i * context + begin;
      for (Index r = 0; r < rows; ++r)
        through.row(r) =
            std::exp(first - w.running[begin + r]) * MatrixMap<T>(w.phi_q + at * m_, rows, m_).row(r);
      Gemm(Op::kTranspose, Op::kNone, m_, vd, rows, through.data(), m_, w.dnum + at * vd, vd, T(1), later.s,
           vd);
      later.Z().noalias() +=
          through.transpose() * Eigen::Map<Eigen::Matrix<T, Eigen::Dynamic, 1>>(w.dden + at, rows);
    });
    later.scale = first;
    dphi.array() *= phi_k.array();
    map_->Backward(key_head, rows, From(keys, begin), dphi.data(), {dkeys.row(begin), dkeys.stride},
                   Partial(b, key_head));
  }
}

}  // namespace

template <class T>
std::shared_ptr<FeatureAttention<T>> FeatureAttention<T>::Record(Tape<T>& tape, const std::string& name,
                                                                 const HeadShape& shape,
                                                                 std::shared_ptr<FeatureMap<T>> map,
                                                                 Node<T>* q, Node<T>* k, Node<T>* v) {
  auto op = std::make_shared<Chunked<T>>(tape, name, shape, std::move(map), q, k, v);
  // The recurrence: features of queries and keys, S += φ(k)vᵀ, out = φ(q)S. Pairs within a chunk are our
  // choice.
  const Index m = op->map().features(), queries = shape.tokens() * shape.heads,
              keys = shape.tokens() * shape.key_heads;
  Work work = ProductWork(queries + keys, m, shape.dim, sizeof(T));
  work += ProductWork(queries + keys, m, shape.value_dim, sizeof(T));
  work.bytes = StreamWork(1, q->size() + k->size() + v->size() + op->out()->size(), sizeof(T)).bytes;
  tape.Record(
      {"feature_attention", work, BackwardWork(work)}, [op] { op->Forward(); }, [op] { op->Backward(); });
  return op;
}
template class FeatureAttention<float>;
template class FeatureAttention<double>;

}  // namespace dark
