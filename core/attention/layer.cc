#include "core/attention/layer.h"

#include <cmath>
#include <limits>

#include "core/attention/calibration.h"
#include "core/attention/positive_features.h"
#include "core/attention/proposal.h"
#include "core/attention/softmax_head.h"
#include "core/attention/whitening.h"
#include "core/ops.h"

namespace dark {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr Index kProbeRows = 256;  // positions of the first sequence that are compared with exact attention

template <class T>
AttentionLayer<T> Inputs(const AttentionContext<T>& c) {
  AttentionLayer<T> layer;
  layer.shape = c.shape;
  layer.input_q = layer.q = c.q;
  layer.input_k = layer.k = c.k;
  layer.v = c.v;
  return layer;
}

template <class T>
Node<T>* Rotate(const AttentionContext<T>& c, const std::string& suffix, Node<T>* x) {
  const T scale = static_cast<T>(std::pow(static_cast<double>(c.shape.dim), -0.25));
  return Rope(c.tape, c.name + suffix, x, c.shape.context, c.shape.dim, c.rope_base, scale);
}

template <class T>
double MeanSquaredNorm(const Node<T>& x, Index dim) {
  return x.Value().template cast<double>().squaredNorm() * static_cast<double>(dim) /
         static_cast<double>(x.size());
}

template <class T>
double MeanAnisotropy(const Node<T>& x, Index dim) {
  double sum = 0;
  const Index heads = x.cols / dim;
  for (Index h = 0; h < heads; ++h) {
    PooledCovariance covariance(dim);
    covariance.AddGroup(x.Value().middleCols(h * dim, dim).template cast<double>());
    sum += Anisotropy(covariance.Value());
  }
  return sum / static_cast<double>(heads);
}

// ‖out − exact‖/‖exact‖ over the first positions of the first sequence, all heads.
template <class T>
double KernelError(const AttentionLayer<T>& layer) {
  const HeadShape& s = layer.shape;
  const Index rows = std::min(kProbeRows, s.context);
  const SoftmaxShape<T> head{rows, s.dim, s.value_dim};
  T *exact = nullptr, *log_sum = nullptr, *scratch = nullptr;
  Arena<T> memory;  // aligned, so that the error rounds alike in every process
  memory.Plan(&exact, rows * s.value_dim);
  memory.Plan(&log_sum, rows);
  memory.Plan(&scratch, head.Scratch());
  memory.Allocate();
  double error = 0, norm = 0;
  const auto view = [&](const Node<T>& node, Index h, Index dim) {
    return HeadView<const T>{node.value + h * dim, node.cols};
  };
  for (Index h = 0; h < s.heads; ++h) {
    SoftmaxForward(head, view(*layer.q, h, s.dim), view(*layer.k, h / s.queries_per_key(), s.dim),
                   view(*layer.v, h * s.value_heads / s.heads, s.value_dim), HeadView<T>{exact, s.value_dim},
                   log_sum, scratch);
    const auto target = MatrixMap<T>(exact, rows, s.value_dim).template cast<double>();
    const auto estimate =
        layer.out->Value().topRows(rows).middleCols(h * s.value_dim, s.value_dim).template cast<double>();
    error += (estimate - target).squaredNorm();
    norm += target.squaredNorm();
  }
  return std::sqrt(error / norm);
}

}  // namespace

template <class T>
AttentionLayer<T> PlainInputs(const AttentionContext<T>& c) {
  AttentionLayer<T> layer = Inputs(c);
  layer.input_q = layer.q = Rotate(c, ".q_kernel", c.q);
  layer.input_k = layer.k = Rotate(c, ".k_kernel", c.k);
  return layer;
}

template <class T>
AttentionLayer<T> GeometryInputs(const AttentionContext<T>& c) {
  const bool rotate_first = c.options.rope == "before-M";
  AttentionLayer<T> layer = rotate_first ? PlainInputs(c) : Inputs(c);
  const double input_scale = rotate_first ? 1 : std::pow(static_cast<double>(c.shape.dim), -0.25);
  layer.geometry = std::make_shared<Geometry<T>>(c.parameters, c.name, c.options, c.shape.heads,
                                                 c.shape.value_heads, c.shape.dim);
  if (c.options.init == "whitening") {
    c.tape.Record(
        {"calibration", {}, {}}, {}, [] {}, [] {},
        [geometry = layer.geometry, q = layer.q, k = layer.k, input_scale] {
          geometry->Calibrate(*q, *k, input_scale);
        });
  }
  layer.q = layer.geometry->MapQueries(c.tape, c.name + ".q_mapped", layer.q);
  layer.k = layer.geometry->MapKeys(c.tape, c.name + ".k_mapped", layer.k);
  layer.shape.dim = layer.geometry->rank();
  layer.shape.key_heads = layer.geometry->key_heads();
  if (!rotate_first) {
    layer.q = Rotate(c, ".q_kernel", layer.q);
    layer.k = Rotate(c, ".k_kernel", layer.k);
  }
  return layer;
}

// After M is final, before the layer attends for the first time (method.md rules 16 and 18).
template <class T>
void CalibrateProposal(const AttentionContext<T>& c, const AttentionLayer<T>& layer, FeatureMap<T>& map) {
  const HeadShape& s = layer.shape;
  std::vector<Eigen::MatrixXd> roots;
  for (Index set = 0; set < map.sets(); ++set) {
    const Eigen::MatrixXd covariance = CalibrationCovariance<T>(
        {layer.q, layer.k, s.heads, s.key_heads, s.dim, 1}, set, map.sets(), "proposal of " + c.name);
    roots.push_back(ProposalRoot(c.options.proposal, covariance, c.name));
  }
  map.SetProposals(roots);
}

template <class T>
void AttendWithFeatures(const AttentionContext<T>& c, bool learned, AttentionLayer<T>& layer) {
  auto map =
      PositiveFeatures(c.parameters, c.name, c.options, layer.shape.dim, layer.shape.key_heads, learned);
  if (!learned && c.options.proposal != "isotropic") {
    c.tape.Record(
        {"calibration", {}, {}}, {}, [] {}, [] {}, [c, layer, map] { CalibrateProposal(c, layer, *map); });
  }
  layer.features = FeatureAttention<T>::Record(c.tape, c.name + ".out", layer.shape, std::move(map), layer.q,
                                               layer.k, layer.v, c.most_kept_features);
  layer.out = layer.features->out();
}

template <class T>
double AttentionLayer<T>::Weight(Index head, const T* query, const T* key) const {
  if (uniform) return 1;
  if (features == nullptr) {
    double dot = 0;
    for (Index i = 0; i < shape.dim; ++i) dot += static_cast<double>(query[i]) * static_cast<double>(key[i]);
    return std::exp(dot);
  }
  const FeatureMap<T>& map = features->map();
  std::vector<T> a(static_cast<std::size_t>(map.features())), b(a.size());
  const Index key_head = head / shape.queries_per_key();
  T query_constant, key_constant;
  map.LogFeatures(key_head, 1, {query, shape.dim}, a.data(), &query_constant);
  map.LogFeatures(key_head, 1, {key, shape.dim}, b.data(), &key_constant);
  const double constant = static_cast<double>(query_constant) + static_cast<double>(key_constant);
  double sum = 0;
  for (std::size_t j = 0; j < a.size(); ++j)
    sum += std::exp(static_cast<double>(a[j]) + static_cast<double>(b[j]) + constant);
  return sum;
}

template <class T>
LayerHealth AttentionLayer<T>::Health() const {
  LayerHealth health{kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone};
  if (uniform) return health;
  health.mx2 = (MeanSquaredNorm(*q, shape.dim) + MeanSquaredNorm(*k, shape.dim)) / 2;
  const Index input_dim = input_q->cols / shape.heads;
  health.anisotropy_q = MeanAnisotropy(*input_q, input_dim);
  health.anisotropy_k = MeanAnisotropy(*input_k, input_dim);
  if (geometry != nullptr) std::tie(health.sigma_min, health.sigma_max) = geometry->SigmaRange();
  if (features != nullptr) {
    const NormaliserHealth normalisers = features->Health();
    health.min_denominator = normalisers.min_denominator;
    health.underflow_rows = static_cast<double>(normalisers.underflow_rows);
    health.kernel_error = KernelError(*this);
  }
  return health;
}

template struct AttentionLayer<float>;
template struct AttentionLayer<double>;
template AttentionLayer<float> PlainInputs(const AttentionContext<float>&);
template AttentionLayer<double> PlainInputs(const AttentionContext<double>&);
template AttentionLayer<float> GeometryInputs(const AttentionContext<float>&);
template AttentionLayer<double> GeometryInputs(const AttentionContext<double>&);
template void AttendWithFeatures(const AttentionContext<float>&, bool, AttentionLayer<float>&);
template void AttendWithFeatures(const AttentionContext<double>&, bool, AttentionLayer<double>&);

}  // namespace dark
