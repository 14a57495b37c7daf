#include "core/attention/drawn_projections.h"

#include <algorithm>
#include <cmath>

#include "core/tape/tape.h"
#include "core/tensor/decompositions.h"

namespace dark {

template <class T>
void DrawPlan::Fill(Index count, std::span<T> out) const {
  for (Index set = 0; set < sets; ++set) {
    const Stream stream(seed, "omega/" + name + "/" + std::to_string(set), static_cast<std::uint64_t>(count));
    DrawBase(draws, m, dim, stream,
             out.subspan(static_cast<std::size_t>(set * size()), static_cast<std::size_t>(size())));
  }
}
template void DrawPlan::Fill(Index, std::span<float>) const;
template void DrawPlan::Fill(Index, std::span<double>) const;

template <class T>
DrawnProjections<T>::DrawnProjections(const DrawPlan& plan) : plan_(plan) {
  const Index weights = plan.weighted ? plan.m + plan.dim * plan.dim : 0;
  state_.resize(static_cast<std::size_t>(plan.sets * (plan.size() + weights)));
  if (plan.weighted) {
    for (Index set = 0; set < plan.sets; ++set) MatrixMap<T>(At(set).root, plan.dim, plan.dim).setIdentity();
    determinants_.resize(static_cast<std::size_t>(plan.sets));
  }
  Redraw(0);
}

template <class T>
auto DrawnProjections<T>::At(Index set) -> Set {
  T* weights = state_.data() + plan_.sets * plan_.size();
  return {state_.data() + set * plan_.size(), weights + set * plan_.m,
          weights + plan_.sets * plan_.m + set * plan_.dim * plan_.dim};
}

template <class T>
const T* DrawnProjections<T>::LogWeights(Index set) const {
  return plan_.weighted ? state_.data() + plan_.sets * plan_.size() + set * plan_.m : nullptr;
}

template <class T>
void DrawnProjections<T>::Redraw(Index count) {
  count_ = count;
  plan_.Fill(count, std::span<T>(state_).first(static_cast<std::size_t>(plan_.sets * plan_.size())));
  if (!plan_.weighted) return;
  for (Index set = 0; set < plan_.sets; ++set) ApplyProposal(set);
}

template <class T>
void DrawnProjections<T>::SetProposals(const std::vector<Eigen::MatrixXd>& roots) {
  for (Index set = 0; set < plan_.sets; ++set)
    MatrixMap<T>(At(set).root, plan_.dim, plan_.dim) = roots[static_cast<std::size_t>(set)].cast<T>();
  Redraw(count_);
}

// A redraw keeps S, so its determinant is taken again only when S^½ has changed; a checkpoint may change it
// in place.
template <class T>
double DrawnProjections<T>::LogDeterminant(Index set, const Eigen::MatrixXd& root) {
  Determinant& known = determinants_[static_cast<std::size_t>(set)];
  const std::span<const T> stored(At(set).root, static_cast<std::size_t>(plan_.dim * plan_.dim));
  if (!std::equal(stored.begin(), stored.end(), known.root.begin(), known.root.end()))
    known = {{stored.begin(), stored.end()}, 2 * SymmetricEigen(root).values.array().log().sum()};
  return known.log;
}

// S^½ is read as it is stored, so that a resumed run draws the same numbers.
template <class T>
void DrawnProjections<T>::ApplyProposal(Index set) {
  const Set at = At(set);
  MatrixMap<T> omega(at.omega, plan_.m, plan_.dim);
  const Eigen::MatrixXd root = MatrixMap<T>(at.root, plan_.dim, plan_.dim).template cast<double>();
  const Eigen::MatrixXd u = omega.template cast<double>(), w = u * root;  // rows w' = u'S^½, S^½ symmetric
  const double log_det = LogDeterminant(set, root);
  for (Index j = 0; j < plan_.m; ++j)
    at.weights[j] = static_cast<T>((log_det + u.row(j).squaredNorm() - w.row(j).squaredNorm()) / 4);
  omega = w.cast<T>();
}

template class DrawnProjections<float>;
template class DrawnProjections<double>;

}  // namespace dark
