#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/attention/base_draws.h"

namespace dark {

/// Who draws what: Ω [m × dim] for each of `sets` groups of key heads, from streams named after all of them.
struct DrawPlan {
  std::uint64_t seed;
  std::string name;
  Draws draws;
  Index m, dim, sets;
  bool weighted;  ///< draws may follow a proposal other than N(0, I)

  Index size() const { return m * dim; }
  /// The base draws u of all sets, one after the other; `count` numbers the draw.
  template <class T>
  void Fill(Index count, std::span<T> out) const;
};

/// Projections that are drawn, not learned: rows w = S^½u of N(0, S), with the log-weights that keep
/// φ(q)·φ(k) unbiased: ¼log det S + ¼(‖u‖² − ‖w‖²), half of log p_I/p_S for the query's feature and half for
/// the key's (method.md rule 16). S = I until SetProposals; a redraw keeps it.
template <class T>
class DrawnProjections {
 public:
  explicit DrawnProjections(const DrawPlan& plan);

  void Redraw(Index count);
  /// Draws of each set follow N(0, S) from now on, given its S^½.
  void SetProposals(const std::vector<Eigen::MatrixXd>& roots);

  const T* Omega(Index set) const { return state_.data() + set * plan_.size(); }
  /// m log-weights, or nullptr where all are 0 for ever.
  const T* LogWeights(Index set) const;
  /// All of it: what a checkpoint has to hold.
  std::span<T> state() { return state_; }

 private:
  struct Set {
    T *omega, *weights, *root;
  };
  struct Determinant {
    std::vector<T> root;  // whose it is
    double log = 0;
  };
  Set At(Index set);
  void ApplyProposal(Index set);
  double LogDeterminant(Index set, const Eigen::MatrixXd& root);

  DrawPlan plan_;
  Index count_ = 0;
  std::vector<Determinant> determinants_;  // log det S of each set, as long as its S^½ stays
  std::vector<T> state_;  // Ω [sets·m·dim], and when weighted: log-weights [sets·m], S^½ [sets·dim·dim]
};

}  // namespace dark
