#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

#include "core/tensor/round_up.h"

namespace dark {

/// Memory that is planned first and allocated once: `Plan` notes where a pointer is to be stored, `Allocate`
/// takes one zeroed block, 64-byte aligned, and sets all pointers. Nothing is allocated afterwards.
template <class T>
class Arena {
 public:
  /// `*where` points to `count` elements after Allocate().
  void Plan(T** where, Index count) { PlanAt(where, size_, count); }
  /// The same at an offset of the caller's choice, a multiple of Rounded: what else is planned there shares
  /// it.
  void PlanAt(T** where, Index offset, Index count) {
    plan_.push_back({where, offset});
    size_ = std::max(size_, offset + Rounded(count));
  }
  /// `count` filled up to whole cache lines.
  static Index Rounded(Index count) { return RoundUp(count, kAlign); }

  void Allocate() {
    block_.reset(static_cast<T*>(::operator new (Bytes(), std::align_val_t{64})));
    std::fill(block_.get(), block_.get() + size_, T(0));
    for (const Entry& entry : plan_) *entry.where = block_.get() + entry.offset;
    plan_.clear();
  }

  T* data() { return block_.get(); }
  Index size() const { return size_; }
  std::size_t Bytes() const { return static_cast<std::size_t>(size_ > 0 ? size_ : 1) * sizeof(T); }

 private:
  static constexpr Index kAlign = 64 / static_cast<Index>(sizeof(T));
  struct Entry {
    T** where;
    Index offset;
  };
  struct Free {
    void operator()(T* block) const { ::operator delete (block, std::align_val_t{64}); }
  };
  std::vector<Entry> plan_;
  Index size_ = 0;
  std::unique_ptr<T, Free> block_;
};

}  // namespace dark
