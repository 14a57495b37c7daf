#pragma once

#include <limits>

#include "core/tape/parameters.h"

namespace dark::testing {

/// Before a backward pass: gradients hold nothing of use. An op that adds where it should write leaves NaN.
template <class T>
void SpoilGradients(Parameters<T>& parameters) {
  for (Node<T>& node : parameters.nodes()) {
    if (node.trainable) node.Grad().setConstant(std::numeric_limits<T>::quiet_NaN());
  }
  parameters.RestartGradients();
}

template <class T>
void BackwardAnew(Parameters<T>& parameters, Tape<T>& tape) {
  SpoilGradients(parameters);
  tape.Backward();
  parameters.FinishGradients();
}

}  // namespace dark::testing
