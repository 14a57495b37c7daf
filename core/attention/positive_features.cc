#include "core/attention/positive_features.h"

#include <cmath>
#include <optional>

#include "core/attention/drawn_projections.h"
#include "core/tensor/matmul.h"
#include "core/tensor/rows.h"

namespace dark {
namespace {

template <class T>
class Positive final : public FeatureMap<T> {
 public:
  Positive(Parameters<T>& parameters, const DrawPlan& plan, bool learned) : plan_(plan) {
    memory_.Plan(&packed_, plan.sets * PackedSize<T>(plan.m, plan.dim));
    memory_.Allocate();
    if (learned) {
      weight_ = parameters.Add(plan.name + ".W", plan.sets * plan.m, plan.dim,
                               [plan](std::span<T> values, std::uint64_t) { plan.Fill(0, values); });
      return;
    }
    drawn_.emplace(plan);
    Prepare();
  }

  Index features() const override { return plan_.m; }
  Index sets() const override { return plan_.sets; }

  void Prepare() override {
    for (Index set = 0; set < plan_.sets; ++set)
      Pack(Op::kTranspose, {Projection(set), plan_.dim}, Packed(set));
  }

  void LogFeatures(Index key_head, Index rows, HeadView<const T> x, T* a, T* constant) const override {
    const Index m = plan_.m;
    Gemm(Op::kNone, rows, m, plan_.dim, {x.data, x.stride}, Packed(Set(key_head)), T(0), a, m);
    if (const T* weights = drawn_ ? drawn_->LogWeights(Set(key_head)) : nullptr)
      MatrixMap<T>(a, rows, m).rowwise() += Eigen::Map<const Eigen::Matrix<T, 1, Eigen::Dynamic>>(weights, m);
    if (constant == nullptr) return;
    const T half_log_m = T(0.5) * std::log(static_cast<T>(m));
    for (Index i = 0; i < rows; ++i)
      constant[i] = T(-0.5) * RowDot(plan_.dim, x.row(i), x.row(i)) - half_log_m;
  }

  // ∂log φ_j/∂x = w_j − x:  dx += daᵀW − (Σ_j da_j)·x;  dW += daᵀx. A sum that is 0 but for rounding is left
  // out: times a large x it would be felt.
  void Backward(Index key_head, Index rows, HeadView<const T> x, const LogFeatureGradient<T>& gradient,
                T beta, HeadView<T> dx, T* partial) const override {
    const T* da = gradient.da;
    const Operands operands = gradient.operands;
    const Index m = plan_.m, dim = plan_.dim;
    Gemm(Op::kNone, Op::kNone, rows, dim, m, {da, m}, {Projection(Set(key_head)), dim}, beta, dx.data,
         dx.stride, operands);
    for (Index i = 0; gradient.constant && i < rows; ++i) {
      RowSum<T> sum;
      ForLanes<T>(m, [&](auto at) { sum.Add(at.Load(da + i * m)); });
      const T total = sum.Total(), *from = x.row(i);
      T* to = dx.row(i);
      ForLanes<T>(dim, [&](auto at) { at.Store(to, at.Load(to) - total * at.Load(from)); });
    }
    if (weight_ != nullptr)
      Gemm(Op::kTranspose, Op::kNone, m, dim, rows, {da, m}, {x.data, x.stride}, T(1), partial, dim,
           operands);
  }

  Index partial_size() const override { return weight_ != nullptr ? plan_.size() : 0; }

  void AddPartial(Index key_head, const T* partial) override {
    if (!weight_->trainable) return;
    weight_->StartGradient();
    const Index size = partial_size();
    Eigen::Map<Eigen::Array<T, Eigen::Dynamic, 1>>(weight_->grad + Set(key_head) * size, size) +=
        Eigen::Map<const Eigen::Array<T, Eigen::Dynamic, 1>>(partial, size);
  }

  void Redraw(Index count) override {
    if (!drawn_) return;
    drawn_->Redraw(count);
    Prepare();
  }
  void SetProposals(const std::vector<Eigen::MatrixXd>& roots) override {
    drawn_->SetProposals(roots);
    Prepare();
  }
  std::span<T> omega() override { return drawn_ ? drawn_->state() : std::span<T>(); }

 private:
  Index Set(Index key_head) const { return plan_.sets == 1 ? 0 : key_head; }
  const T* Projection(Index set) const {
    return weight_ != nullptr ? weight_->value + set * plan_.size() : drawn_->Omega(set);
  }
  PackedB<T> Packed(Index set) const {
    return {packed_ + set * PackedSize<T>(plan_.m, plan_.dim), plan_.m, plan_.dim};
  }

  DrawPlan plan_;
  Node<T>* weight_ = nullptr;
  std::optional<DrawnProjections<T>> drawn_;  // unless the projections are learned
  Arena<T> memory_;
  T* packed_ = nullptr;  // [sets] projections in the kernel's order
};

}  // namespace

template <class T>
std::shared_ptr<FeatureMap<T>> PositiveFeatures(Parameters<T>& parameters, const std::string& name,
                                                const AttentionOptions& options, Index dim, Index key_heads,
                                                bool learned) {
  const DrawPlan plan{parameters.seed(),
                      name,
                      DrawsFromName(options.draws),
                      options.m,
                      dim,
                      options.share == "layer" ? 1 : key_heads,
                      options.proposal != "isotropic"};
  return std::make_shared<Positive<T>>(parameters, plan, learned);
}
template std::shared_ptr<FeatureMap<float>> PositiveFeatures(Parameters<float>&, const std::string&,
                                                             const AttentionOptions&, Index, Index, bool);
template std::shared_ptr<FeatureMap<double>> PositiveFeatures(Parameters<double>&, const std::string&,
                                                              const AttentionOptions&, Index, Index, bool);

}  // namespace dark
