#include "analysis/moments.h"

#include <cmath>

namespace dark::analysis {

double Moments::sd() const { return n == 0 ? 0 : std::sqrt(m2 / static_cast<double>(n)); }

Moments Merge(const Moments& a, const Moments& b) {
  if (a.n == 0) return b;
  if (b.n == 0) return a;
  const double na = static_cast<double>(a.n), nb = static_cast<double>(b.n);
  const double delta = b.mean - a.mean;
  return {a.n + b.n, a.mean + delta * (nb / (na + nb)), a.m2 + b.m2 + delta * delta * (na * nb / (na + nb))};
}

void SlidingMoments::Push(double x) {
  newer_.push_back(x);
  newer_sum_ = Merge(newer_sum_, Moments::Of(x));
  if (older_.size() + newer_.size() <= window_) return;
  if (older_.empty()) Turn();
  older_.pop_back();
}

void SlidingMoments::Turn() {
  Moments sum;
  for (std::size_t i = newer_.size(); i-- > 0;) {
    sum = Merge(Moments::Of(newer_[i]), sum);
    older_.push_back(sum);
  }
  newer_.clear();
  newer_sum_ = {};
}

}  // namespace dark::analysis
