#include "experiments/training/state.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/error.h"

namespace dark {
namespace {

template <class T>
struct Slot {
  std::string name;
  std::vector<std::int64_t> shape;
  T* data;
  std::size_t size() const {
    std::size_t count = 1;
    for (const std::int64_t extent : shape) count *= static_cast<std::size_t>(extent);
    return count;
  }
};

// Everything of a model that a checkpoint holds, by the name it has there.
template <class T>
std::vector<Slot<T>> WeightSlots(Model<T>& model) {
  std::vector<Slot<T>> slots;
  for (Node<T>& node : model.parameters().nodes())
    slots.push_back({"weights/" + node.name, {node.rows, node.cols}, node.value});
  for (std::size_t i = 0; i < model.layers().size(); ++i) {
    const AttentionLayer<T>& layer = model.layers()[i];
    const std::span<T> omega = layer.features != nullptr ? layer.features->map().omega() : std::span<T>();
    if (!omega.empty())
      slots.push_back(
          {fmt::format("omega/layer.{}", i), {static_cast<std::int64_t>(omega.size())}, omega.data()});
  }
  return slots;
}

template <class T>
std::vector<Slot<T>> MomentSlots(Model<T>& model, AdamW<T>& optimizer) {
  std::vector<Slot<T>> slots;
  std::size_t i = 0;
  for (const Node<T>& node : model.parameters().nodes()) {
    T *first = optimizer.first_moments()[i], *second = optimizer.second_moments()[i];
    ++i;
    if (first == nullptr) continue;  // frozen
    slots.push_back({"moment1/" + node.name, {node.rows, node.cols}, first});
    slots.push_back({"moment2/" + node.name, {node.rows, node.cols}, second});
  }
  return slots;
}

void RequireSameNames(const std::set<std::string>& expected, const Checkpoint& checkpoint,
                      const std::string& path) {
  std::string missing, extra;
  for (const std::string& name : expected) {
    if (!checkpoint.arrays.contains(name)) missing += " " + name;
  }
  for (const auto& entry : checkpoint.arrays) {
    if (!expected.contains(entry.first)) extra += " " + entry.first;
  }
  if (missing.empty() && extra.empty()) return;
  throw Error(fmt::format("{}: checkpoint of another model; missing:{}; extra:{}", path,
                          missing.empty() ? " none" : missing, extra.empty() ? " none" : extra),
              Exit::kFailed);
}

template <class T>
void Restore(const std::vector<Slot<T>>& slots, const Checkpoint& checkpoint, const std::string& path) {
  for (const Slot<T>& slot : slots) {
    const auto found = checkpoint.arrays.find(slot.name);
    const auto* values =
        found == checkpoint.arrays.end() ? nullptr : std::get_if<std::vector<T>>(&found->second.values);
    if (values == nullptr || found->second.shape != slot.shape) {
      throw Error(fmt::format("{}: tensor {} is missing or has another shape or precision", path, slot.name),
                  Exit::kFailed);
    }
    std::copy(values->begin(), values->end(), slot.data);
  }
}

constexpr const char* kCounters = "counters/step,sequence,redraw,updates";

}  // namespace

template <class T>
Checkpoint SaveState(Model<T>& model, AdamW<T>& optimizer, const Counters& counters) {
  Checkpoint checkpoint;
  for (const auto& slots : {WeightSlots(model), MomentSlots(model, optimizer)}) {
    for (const Slot<T>& slot : slots)
      checkpoint.arrays[slot.name] = {slot.shape, std::vector<T>(slot.data, slot.data + slot.size())};
  }
  checkpoint.arrays[kCounters] = {
      {4}, std::vector<std::int64_t>{counters.step, counters.sequence, counters.redraw, optimizer.steps()}};
  return checkpoint;
}

template <class T>
Counters RestoreState(const Checkpoint& checkpoint, const std::string& path, Model<T>& model,
                      AdamW<T>& optimizer) {
  const std::vector<Slot<T>> weights = WeightSlots(model), moments = MomentSlots(model, optimizer);
  std::set<std::string> names = {kCounters};
  for (const auto* slots : {&weights, &moments}) {
    for (const Slot<T>& slot : *slots) names.insert(slot.name);
  }
  RequireSameNames(names, checkpoint, path);
  Restore(weights, checkpoint, path);
  Restore(moments, checkpoint, path);
  const auto& values = std::get<std::vector<std::int64_t>>(checkpoint.arrays.at(kCounters).values);
  optimizer.set_steps(values.at(3));
  return {values.at(0), values.at(1), values.at(2)};
}

template <class T>
void RestoreWeights(const Checkpoint& checkpoint, const std::string& path, Model<T>& model) {
  Restore(WeightSlots(model), checkpoint, path);
}

template Checkpoint SaveState(Model<float>&, AdamW<float>&, const Counters&);
template Checkpoint SaveState(Model<double>&, AdamW<double>&, const Counters&);
template Counters RestoreState(const Checkpoint&, const std::string&, Model<float>&, AdamW<float>&);
template Counters RestoreState(const Checkpoint&, const std::string&, Model<double>&, AdamW<double>&);
template void RestoreWeights(const Checkpoint&, const std::string&, Model<float>&);
template void RestoreWeights(const Checkpoint&, const std::string&, Model<double>&);

}  // namespace dark
