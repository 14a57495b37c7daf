#pragma once

#include "core/attention/heads.h"
#include "core/tape/tape.h"

namespace dark {

/// Uniform attention, the floor: out_t = mean_{s≤t} v_s for every query head of the value head's group.
template <class T>
Node<T>* PrefixMean(Tape<T>& tape, const std::string& name, const HeadShape& shape, Node<T>* v);

}  // namespace dark
