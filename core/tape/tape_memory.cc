#include <algorithm>
#include <map>

#include "core/tape/lifetimes.h"
#include "core/tape/tape.h"
#include "core/tensor/bf16_matmul.h"

namespace dark {
namespace {

/// Elements of T that hold `count` values, or as many bfloat16.
template <class T>
Index Elements(Index count, bool rounded) {
  constexpr Index kInOne = static_cast<Index>(sizeof(T) / sizeof(Bf16));
  return rounded ? (count + kInOne - 1) / kInOne : count;
}

}  // namespace

// A node is rounded if its maker and all its readers allow it. What is added to stays whole: a gradient only
// with one reader.
template <class T>
void Tape<T>::PlanRounding() {
  if (!kOwnBf16<T> || operands_ != Operands::kBf16) return;
  std::map<Node<T>*, std::vector<MayRound>> uses;
  for (const Operation& operation : operations_) {
    for (const NodeUse<T>& out : operation.outputs) uses[out.node].push_back(out.may_round);
    for (const NodeUse<T>& in : operation.inputs) {
      const auto found = uses.find(in.node);
      if (found != uses.end()) found->second.push_back(in.may_round);  // else a parameter
    }
  }
  for (const auto& [node, of] : uses) {
    const MayRound what = of.front();
    const bool alike = std::count(of.begin(), of.end(), what) == static_cast<Index>(of.size());
    if (alike && (what == MayRound::kValue || of.size() == 2)) node->rounded = what;
  }
  for (Operation& operation : operations_) CountRounded(operation);
}

// Bytes that an op need not move: Linear, which alone reads rounded nodes, takes a value twice, forward and
// for dW, and a gradient twice, for dx and dW.
template <class T>
void Tape<T>::CountRounded(Operation& operation) {
  double &forward = operation.profile.forward_work.bytes, &backward = operation.profile.backward_work.bytes;
  const auto saved = [](const Node<T>& node) {
    return StreamWork(1, node.size(), sizeof(T) - sizeof(Bf16)).bytes;
  };
  for (const NodeUse<T>& in : operation.inputs) {
    if (in.node == nullptr || in.node->rounded == MayRound::kNothing) continue;
    if (in.node->rounded == MayRound::kValue) forward -= saved(*in.node);
    backward -= saved(*in.node);
  }
  for (const NodeUse<T>& out : operation.outputs) {
    if (out.node->rounded == MayRound::kValue) forward -= saved(*out.node);
    if (out.node->rounded == MayRound::kGradient) backward -= 2 * saved(*out.node);
  }
}

// A gradient lives from the last op that reads its node, the first to add to it in a backward pass, to the op
// that made the node.
template <class T>
void Tape<T>::PlanGradients() {
  std::map<const Node<T>*, Lifetime> lifetimes;
  for (std::size_t i = 0; i < operations_.size(); ++i) {
    const auto index = static_cast<Index>(i);
    for (const NodeUse<T>& out : operations_[i].outputs) {
      const bool rounded = out.node->rounded == MayRound::kGradient;
      lifetimes[out.node] = {index, index, Arena<T>::Rounded(Elements<T>(out.node->size(), rounded))};
    }
    for (const NodeUse<T>& in : operations_[i].inputs) {
      const auto found = lifetimes.find(in.node);
      if (found != lifetimes.end()) found->second.last = index;  // else a parameter
    }
  }
  for (const Operation& operation : operations_) {
    for (const NodeUse<T>& out : operation.outputs)
      operations_[static_cast<std::size_t>(lifetimes.at(out.node).last)].reached.push_back(out.node);
  }
  std::vector<Node<T>*> nodes;
  std::vector<Lifetime> blocks;
  for (auto it = operations_.rbegin(); it != operations_.rend(); ++it) {
    for (Node<T>* node : it->reached) {
      nodes.push_back(node);
      blocks.push_back(lifetimes.at(node));
    }
  }
  const std::vector<Index> offsets = PlaceByLifetime(blocks);
  for (std::size_t i = 0; i < nodes.size(); ++i) grads_.PlanAt(&nodes[i]->grad, offsets[i], blocks[i].size);
}

template <class T>
void Tape<T>::Allocate() {
  PlanRounding();
  for (Node<T>& node : nodes_)
    values_.Plan(&node.value, Elements<T>(node.size(), node.rounded == MayRound::kValue));
  PlanGradients();
  for (Arena<T>* arena : {&values_, &grads_, &kept_, &scratch_}) arena->Allocate();
  const auto rounded = [](T*& memory) { return reinterpret_cast<Bf16*>(std::exchange(memory, nullptr)); };
  for (Node<T>& node : nodes_) {
    if (node.rounded == MayRound::kValue) node.rounded_value = rounded(node.value);
    if (node.rounded == MayRound::kGradient) node.rounded_grad = rounded(node.grad);
  }
}

template void Tape<float>::Allocate();
template void Tape<double>::Allocate();

}  // namespace dark
