#include "core/attention/geometry.h"

#include <cmath>

#include "core/attention/base_draws.h"
#include "core/attention/calibration.h"
#include "core/attention/whitening.h"
#include "core/tensor/decompositions.h"
#include "core/tensor/matmul.h"
#include "core/tensor/parallel.h"

namespace dark {
namespace {

Index SetCount(const std::string& granularity, Index heads, Index kv_heads) {
  if (granularity == "layer") return 1;
  return granularity == "kv-head" ? kv_heads : heads;
}

double WhiteningScale(const std::string& name, Index dim) {
  if (name == "unit") return 1;
  return std::pow(static_cast<double>(dim), name == "temperature" ? -0.25 : -0.5);
}

/// y_h = M_set(h) · x_source(h) for every token: heads_out heads of r columns from heads_in heads of d
/// columns.
template <class T>
struct HeadMapOp {
  Node<T>*x, *m, *y;
  Index heads_in, heads_out, sets, rank, dim;
  Operands operands;  // of the backward pass; logits of features come from y

  Index Source(Index h) const { return h * heads_in / heads_out; }
  const T* Matrix(Index h) const { return m->value + h * sets / heads_out * rank * dim; }

  void Forward() const {
    ParallelBlocks(x->rows, 128, [&](Index begin, Index end, Index) {
      for (Index h = 0; h < heads_out; ++h) {
        Gemm(Op::kNone, Op::kTranspose, end - begin, rank, dim,
             {x->value + begin * x->cols + Source(h) * dim, x->cols}, {Matrix(h), dim}, T(0),
             y->value + begin * y->cols + h * rank, y->cols);
      }
    });
  }

  // dx_source(h) += dy_h·M,  dM_set(h) += dy_hᵀ·x
  void Backward() const {
    const T beta = x->Beta();
    ParallelBlocks(x->rows, 128, [&](Index begin, Index end, Index) {
      for (Index h = 0; h < heads_out; ++h) {
        const bool first = h == 0 || Source(h) > Source(h - 1);  // of the heads that read these columns
        Gemm(Op::kNone, Op::kNone, end - begin, dim, rank, {y->grad + begin * y->cols + h * rank, y->cols},
             {Matrix(h), dim}, first ? beta : T(1), x->grad + begin * x->cols + Source(h) * dim, x->cols,
             operands);
      }
    });
    if (!m->trainable) return;
    m->StartGradient();
    for (Index h = 0; h < heads_out; ++h) {
      ParallelGemm(Op::kTranspose, Op::kNone, rank, dim, x->rows, {y->grad + h * rank, y->cols},
                   {x->value + Source(h) * dim, x->cols}, T(1), m->grad + h * sets / heads_out * rank * dim,
                   dim, operands);
    }
  }
};

}  // namespace

template <class T>
Geometry<T>::Geometry(Parameters<T>& parameters, const std::string& name, const AttentionOptions& options,
                      Index heads, Index kv_heads, Index head_dim)
    : options_(options),
      heads_(heads),
      kv_heads_(kv_heads),
      dim_(head_dim),
      rank_(options.rank > 0 ? options.rank : head_dim),
      sets_(SetCount(options.granularity, heads, kv_heads)) {
  // Identity at full rank: exactly Performer at step 0. Below it, orthonormal rows.
  const auto init = [rank = rank_, dim = dim_, name](std::span<T> values, std::uint64_t seed) {
    const auto size = static_cast<std::size_t>(rank * dim);
    for (std::size_t set = 0; set < values.size() / size; ++set) {
      const auto block = values.subspan(set * size, size);
      if (rank == dim) {
        MatrixMap<T>(block.data(), rank, dim).setIdentity();
      } else {
        DrawOrthonormal(rank, dim, Stream(seed, "init/" + name + ".M", set), block);
      }
    }
  };
  m_ = parameters.Add(name + ".M", sets_ * rank_, dim_, init);
}

template <class T>
Node<T>* Geometry<T>::Map(Tape<T>& tape, const std::string& name, Node<T>* x, Index heads_in,
                          Index heads_out) {
  Node<T>* y = tape.Activation(name, x->rows, heads_out * rank_);
  const HeadMapOp<T> op{x, m_, y, heads_in, heads_out, sets_, rank_, dim_, tape.operands()};
  const Work work = ProductWork(x->rows * heads_out, rank_, dim_, sizeof(T), Operands::kFull);
  const Work backward =
      ProductWork(x->rows * heads_out, dim_, rank_, sizeof(T), op.operands) +
      ProductWork(rank_, dim_, x->rows * heads_out, sizeof(T), SplitIfLarge(op.operands, rank_, dim_));
  tape.Record(
      {"geometry", work, backward}, {x}, [op] { op.Forward(); }, [op] { op.Backward(); });
  return y;
}

template <class T>
Node<T>* Geometry<T>::MapQueries(Tape<T>& tape, const std::string& name, Node<T>* q) {
  return Map(tape, name, q, heads_, heads_);
}

template <class T>
Node<T>* Geometry<T>::MapKeys(Tape<T>& tape, const std::string& name, Node<T>* k) {
  return Map(tape, name, k, kv_heads_, key_heads());
}

template <class T>
void Geometry<T>::Calibrate(const Node<T>& q, const Node<T>& k, double input_scale) {
  for (Index set = 0; set < sets_; ++set) {
    const Eigen::MatrixXd covariance = CalibrationCovariance<T>(
        {&q, &k, heads_, kv_heads_, dim_, input_scale}, set, sets_, "whitening of " + m_->name);
    MatrixMap<T>(m_->value + set * rank_ * dim_, rank_, dim_) =
        Whitening(covariance, rank_, WhiteningScale(options_.whitening_scale, dim_), options_.shrinkage,
                  options_.loading)
            .template cast<T>();
  }
}

template <class T>
std::pair<double, double> Geometry<T>::SigmaRange() const {
  double low = std::numeric_limits<double>::infinity(), high = 0;
  for (Index set = 0; set < sets_; ++set) {
    const Eigen::MatrixXd m =
        MatrixMap<T>(m_->value + set * rank_ * dim_, rank_, dim_).template cast<double>();
    const SymmetricEigen eigen(m.transpose() * m);
    low = std::min(low, std::max(0.0, eigen.values.minCoeff()));
    high = std::max(high, eigen.values.maxCoeff());
  }
  return {low, high};
}

template class Geometry<float>;
template class Geometry<double>;

}  // namespace dark
