// Unbiasedness of φ(q)·φ(k) for iid and orthogonal draws (field case C62), its variance, and the sign of QR.
#include <Eigen/Geometry>
#include <Eigen/LU>
#include <catch2/catch.hpp>
#include <cmath>

#include "core/attention/base_draws.h"
#include "core/attention/proposal.h"
#include "tests/core/attention_harness.h"

namespace dark {
namespace {

struct Estimate {
  double mean, standard_error, variance;
};

// φ(q)·φ(k) over redraws, through the layer's own weights and geometry.
Estimate OverRedraws(testing::AttentionHarness<double>& h, Index draws) {
  double sum = 0, square = 0;
  for (Index count = 0; count < draws; ++count) {
    h.layer.features->map().Redraw(count);
    const double weight = h.layer.Weight(0, h.layer.q->value, h.layer.k->value);
    sum += weight;
    square += weight * weight;
  }
  const auto n = static_cast<double>(draws);
  const double variance = (square - sum * sum / n) / (n - 1);
  return {sum / n, std::sqrt(variance / n), variance};
}

double Kernel(const testing::AttentionHarness<double>& h) {
  double dot = 0;
  for (Index i = 0; i < h.layer.shape.dim; ++i) dot += h.layer.q->value[i] * h.layer.k->value[i];
  return std::exp(dot);
}

AttentionOptions Options(const std::string& variant, const std::string& draws, Index m, Index rank) {
  AttentionOptions o;
  o.variant = variant;
  o.draws = draws;
  o.m = m;
  o.rank = rank;
  return o;
}

}  // namespace

TEST_CASE("φ(q)·φ(k) is unbiased for exp(q'Σk) with iid and orthogonal draws") {
  for (const char* draws : {"iid", "orthogonal"}) {
    for (const Index dim : {2, 8}) {
      for (const char* variant : {"performer", "darkformer"}) {
        const bool dark = std::string(variant) == "darkformer";
        for (const Index rank : dark ? std::vector<Index>{dim, dim / 2} : std::vector<Index>{0}) {
          testing::AttentionHarness<double> h(Options(variant, draws, 2 * dim, rank),
                                              {1, 4, 1, 1, 1, dim, dim}, 0.5);
          if (dark) h.Nodes().back()->Value().array() += 0.1;  // M is not the identity
          h.Forward();
          const Estimate estimate = OverRedraws(h, 4000);
          INFO(variant << " " << draws << " d " << dim << " r " << rank << ": mean " << estimate.mean
                       << " kernel " << Kernel(h));
          CHECK(std::abs(estimate.mean - Kernel(h)) < 4 * estimate.standard_error);
        }
      }
    }
  }
}

TEST_CASE("φ(q)·φ(k) stays unbiased when draws follow a calibrated proposal") {
  for (const char* draws : {"iid", "orthogonal"}) {
    for (const char* proposal : {"optimal", "sderf"}) {
      for (const char* variant : {"performer", "darkformer"}) {
        AttentionOptions options = Options(variant, draws, 6, 0);
        options.proposal = proposal;
        testing::AttentionHarness<double> h(options, {1, 40, 2, 1, 1, 4, 4}, 0.5);
        h.q->Value().col(0) *= 1.8;  // anisotropic
        h.Forward(/*prepare=*/true);
        const auto state = h.layer.features->map().omega();
        REQUIRE(state.size() == 6 * 4 + 6 + 4 * 4);
        const Estimate estimate = OverRedraws(h, 20000);
        INFO(variant << " " << draws << " " << proposal << ": mean " << estimate.mean << " kernel "
                     << Kernel(h));
        CHECK(std::abs(estimate.mean - Kernel(h)) < 4 * estimate.standard_error);
        CHECK(estimate.standard_error < 0.02 * Kernel(h));  // wrong weights have infinite variance
        CHECK(Eigen::Map<Eigen::ArrayXd>(state.data() + 24, 6).abs().maxCoeff() >
              1e-3);  // weights are at work
      }
    }
  }
}

TEST_CASE("a proposal has the variances of the theory and is refused where it does not exist") {
  Eigen::MatrixXd covariance = Eigen::Vector3d(0.05, 0.2, 0.4).asDiagonal();
  const Eigen::Matrix3d turn =
      (Eigen::AngleAxisd(0.7, Eigen::Vector3d::UnitX()) * Eigen::AngleAxisd(-1.1, Eigen::Vector3d::UnitZ()))
          .toRotationMatrix();
  covariance = turn * covariance * turn.transpose();
  const Eigen::MatrixXd identity = Eigen::MatrixXd::Identity(3, 3);
  const Eigen::MatrixXd optimal = ProposalRoot("optimal", covariance, "x");
  CHECK((optimal * optimal - (identity + 2 * covariance) * (identity - 2 * covariance).inverse()).norm() <
        1e-12);
  CHECK((optimal - optimal.transpose()).norm() < 1e-12);
  // First order in Λ: both families give S = I + 4Λ (method.md 3.3c).
  const Eigen::MatrixXd small = 1e-4 * covariance;
  for (const char* proposal : {"optimal", "sderf"}) {
    const Eigen::MatrixXd root = ProposalRoot(proposal, small, "x");
    CHECK((root * root - identity - 4 * small).norm() < 1e-7);
  }
  CHECK_THROWS_WITH(ProposalRoot("optimal", 2 * covariance, "layer.0.attn"),
                    Catch::Contains("layer.0.attn") && Catch::Contains("0.8") && Catch::Contains("sderf"));
  CHECK(ProposalRoot("sderf", 2 * covariance, "x").allFinite());
}

TEST_CASE("the iid estimator has the variance of the closed form and falls as 1/m") {
  // Var = κ²(exp(‖q+k‖²) − 1)/m (method.md 3.1)
  for (const Index m : {4, 16, 64}) {
    testing::AttentionHarness<double> h(Options("performer", "iid", m, 0), {1, 4, 1, 1, 1, 4, 4}, 0.4);
    h.Forward();
    double z = 0;
    for (Index i = 0; i < 4; ++i) z += std::pow(h.layer.q->value[i] + h.layer.k->value[i], 2);
    const double expected = std::pow(Kernel(h), 2) * (std::exp(z) - 1) / static_cast<double>(m);
    CHECK(OverRedraws(h, 20000).variance == Approx(expected).epsilon(0.15));
  }
}

TEST_CASE("orthogonal draws have orthogonal rows, chi norms, zero row means and no preferred direction") {
  const Index dim = 6, m = 15, draws = 3000;
  Eigen::MatrixXd mean = Eigen::MatrixXd::Zero(m, dim), second = mean;
  double square_norm = 0;
  for (Index count = 0; count < draws; ++count) {
    std::vector<double> omega(static_cast<std::size_t>(m * dim));
    DrawBase(Draws::kOrthogonal, m, dim, Stream(1, "test", static_cast<std::uint64_t>(count)),
             std::span(omega));
    const MatrixMap<double> rows(omega.data(), m, dim);
    for (Index block = 0; block < m; block += dim) {
      const Index size = std::min(dim, m - block);
      const Eigen::MatrixXd gram = rows.middleRows(block, size) * rows.middleRows(block, size).transpose();
      const Eigen::MatrixXd off = gram - Eigen::MatrixXd(gram.diagonal().asDiagonal());
      REQUIRE(off.cwiseAbs().maxCoeff() < 1e-10);
    }
    mean += rows / static_cast<double>(draws);
    second += rows.cwiseProduct(rows) / static_cast<double>(draws);
    square_norm += rows.squaredNorm() / static_cast<double>(draws * m);
  }
  // Every entry is N(0, 1): without the sign of diag(R) the first column's mean is far from 0.
  CHECK(mean.cwiseAbs().maxCoeff() < 4.5 / std::sqrt(static_cast<double>(draws)));
  CHECK((second.array() - 1).abs().maxCoeff() < 4.5 * std::sqrt(2.0 / static_cast<double>(draws)));
  CHECK(square_norm == Approx(6).epsilon(0.02));
}

}  // namespace dark
