// The closed forms of method.md 3.1–3.3 against its oracle table (3.6), and against sampling with our base
// draws.
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "core/attention/base_draws.h"

namespace dark {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

// λ_i proportional to cond^(i/(d−1)), rescaled to trace t.
std::vector<double> Spectrum(int d, double t, double cond) {
  std::vector<double> lambda;
  double sum = 0;
  for (int i = 0; i < d; ++i) sum += lambda.emplace_back(std::pow(cond, i / (d - 1.0)));
  for (double& l : lambda) l *= t / sum;
  return lambda;
}

// E second moment / E κ² of a Gaussian proposal with variance s per direction, q, k ~ N(0, Λ):
// det(S)^½ det(I+2Λ)^-1 det(2I − S^-1 − 8Λ(I+2Λ)^-1)^-½ · det(I−4Λ²)^½
template <class Proposal>
double Ratio(const std::vector<double>& lambda, const Proposal& variance) {
  double log_ratio = 0;
  for (const double l : lambda) {
    const double s = variance(l), b = 2 - 1 / s - 8 * l / (1 + 2 * l);
    if (!(b > 0) || !(l < 0.5)) return kInf;
    log_ratio += 0.5 * std::log(s) - std::log(1 + 2 * l) - 0.5 * std::log(b) + 0.5 * std::log(1 - 4 * l * l);
  }
  return std::exp(log_ratio);
}

double Isotropic(double) { return 1; }
double Optimal(double l) { return (1 + 2 * l) / (1 - 2 * l); }
// 1 − 4A with A of the dense-exponential family for t, the second moment of q + k in one direction.
double DenseExponential(double t) {
  return 1 - (1 - 2 * t - std::sqrt((2 * t + 1) * (2 * t + 1) + 8 * t)) / 4;
}
double Sderf(double l) { return DenseExponential(2 * l); }

struct Row {
  int d;
  double t, cond, isotropic, optimal, sderf, oprf;
};

}  // namespace

TEST_CASE("closed forms reproduce the table of method.md 3.6") {
  const std::vector<Row> table = {
      {8, 0.5, 1, 3.842, 2.733, 2.773, 2.773},    {8, 0.5, 16, kInf, 2.774, 3.019, 4.112},
      {8, 1.0, 1, 81.0, 7.716, 9.065, 9.065},     {8, 1.0, 16, kInf, 9.058, kInf, kInf},
      {16, 1.0, 16, kInf, 7.671, 8.948, 15.59},   {16, 2.0, 1, 6561, 59.54, 82.18, 82.18},
      {64, 1.0, 16, 9.306, 7.404, 7.436, 8.018},  {64, 2.0, 16, 167.5, 55.52, 58.25, 80.21},
      {64, 8.0, 1, 1.85e15, 1.26e7, 4.6e7, 4.6e7}};
  for (const Row& row : table) {
    const std::vector<double> lambda = Spectrum(row.d, row.t, row.cond);
    const double mean = 2 * row.t / row.d;
    const auto oprf = [mean](double) { return DenseExponential(mean); };
    INFO("d " << row.d << " t " << row.t << " cond " << row.cond);
    const auto check = [](double value, double expected) {
      if (expected == kInf) {
        CHECK(value == kInf);
      } else {
        CHECK(value == Approx(expected).epsilon(1e-2));
      }
    };
    check(Ratio(lambda, Isotropic), row.isotropic);
    check(Ratio(lambda, Optimal), row.optimal);
    check(Ratio(lambda, Sderf), row.sderf);
    check(Ratio(lambda, oprf), row.oprf);
  }
}

TEST_CASE("Theorem 3.2's proposal minimises the expected second moment over diagonal proposals") {
  const std::vector<double> lambda = Spectrum(4, 0.6, 8);
  const double best = Ratio(lambda, Optimal);
  for (const double factor : {0.8, 0.95, 1.05, 1.25})
    CHECK(Ratio(lambda, [&](double l) { return factor * Optimal(l); }) > best);
  CHECK(best < Ratio(lambda, Isotropic));
  CHECK(best < Ratio(lambda, Sderf));
}

TEST_CASE("sampling with base draws gives the closed forms, isotropic and with Theorem 3.2's proposal") {
  // One draw ω = S^½u a pair (q, k): f = exp(ω·(q+k) − ½|q|² − ½|k|²)·p_I(ω)/p_S(ω) summed over iid u; Λ
  // small enough for the fourth moments to exist.
  const std::vector<double> lambda = Spectrum(4, 0.15, 4);
  const Index pairs = 400000, d = 4;
  for (const bool optimal : {false, true}) {
    std::vector<double> u(static_cast<std::size_t>(pairs * d));
    DrawBase(Draws::kIid, pairs, d, Stream(5, "theory"), std::span(u));
    Stream inputs(5, "inputs");
    double second = 0, kernel = 0;
    for (Index n = 0; n < pairs; ++n) {
      double exponent = 0, dot = 0;
      for (Index i = 0; i < d; ++i) {
        const double l = lambda[static_cast<std::size_t>(i)], s = optimal ? Optimal(l) : 1;
        const double q = std::sqrt(l) * inputs.Normal(), k = std::sqrt(l) * inputs.Normal();
        const double base = u[static_cast<std::size_t>(n * d + i)], w = std::sqrt(s) * base;
        exponent += w * (q + k) - (q * q + k * k) / 2 + 0.5 * std::log(s) + 0.5 * (base * base - w * w);
        dot += q * k;
      }
      second += std::exp(2 * exponent);
      kernel += std::exp(2 * dot);
    }
    const double expected = optimal ? Ratio(lambda, Optimal) : Ratio(lambda, Isotropic);
    CHECK(second / kernel == Approx(expected).epsilon(0.03));
  }
}

}  // namespace dark
