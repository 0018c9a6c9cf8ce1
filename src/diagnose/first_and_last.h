#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

namespace whystop {

/// Keeps the first and the last few of a sequence of any length.
template <typename T>
class FirstAndLast {
 public:
  FirstAndLast(std::size_t first, std::size_t last) : first_max_(first), last_max_(last) {}

  void Push(T value) {
    if (first_.size() < first_max_) {
      first_.push_back(std::move(value));
      return;
    }
    last_.push_back(std::move(value));
    if (last_.size() > last_max_) {
      last_.pop_front();
    }
  }

  template <typename Visit>
  void ForEach(Visit visit) const {
    for (const T& value : first_) {
      visit(value);
    }
    for (const T& value : last_) {
      visit(value);
    }
  }

 private:
  std::size_t first_max_;
  std::size_t last_max_;
  std::vector<T> first_;
  std::deque<T> last_;
};

}  // namespace whystop
