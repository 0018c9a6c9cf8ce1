#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "model/event.h"

namespace whystop {

/// Something for each series of a run. Bounded: series beyond the limit are not followed.
/// Every point of a run asks here, so a look costs no copy, and mostly one comparison: a step's series come in the same
/// order as those of the step before.
template <typename State, std::size_t kSeriesMax = 64>
class SeriesTable {
 public:
  /// Where a series comes from: its name, its rank (-1: not known) and the file it was read from.
  /// The probe's "loss" and the "loss" that the program prints are two series.
  struct Key {
    std::string name;
    int rank = -1;
    std::string file;
  };
  /// The state of a series, and which one came after it last time.
  struct Followed : State {
    std::pair<const Key, Followed>* next = nullptr;
  };

  SeriesTable() = default;
  SeriesTable(const SeriesTable&) = delete;
  SeriesTable& operator=(const SeriesTable&) = delete;

  /// nullptr: the table is full and this series is new. `make` builds the state of a new one.
  template <typename Make>
  State* Find(const Scalar& scalar, Make make) {
    Entry* found = before_ == nullptr ? nullptr : before_->second.next;
    if (found == nullptr || Parts(found->first) != Parts(scalar)) {
      found = Search(scalar, make);
      if (found == nullptr) {
        return nullptr;
      }
      if (before_ != nullptr) {
        before_->second.next = found;
      }
    }
    before_ = found;
    return &found->second;
  }

  void Clear() {
    states_.clear();
    before_ = nullptr;
  }

  /// In the order of their keys.
  const auto& states() const { return states_; }

 private:
  using Entry = std::pair<const Key, Followed>;

  static std::tuple<std::string_view, int, std::string_view> Parts(const Key& key) {
    return {key.name, key.rank, key.file};
  }
  static std::tuple<std::string_view, int, std::string_view> Parts(const Scalar& scalar) {
    return {scalar.series, scalar.rank.value_or(-1), scalar.place.file};
  }
  struct Less {
    using is_transparent = void;
    template <typename A, typename B>
    bool operator()(const A& a, const B& b) const {
      return Parts(a) < Parts(b);
    }
  };

  template <typename Make>
  Entry* Search(const Scalar& scalar, Make make) {
    const auto found = states_.find(scalar);
    if (found != states_.end()) {
      return &*found;
    }
    if (states_.size() >= kSeriesMax) {
      return nullptr;
    }
    Key key{scalar.series, scalar.rank.value_or(-1), scalar.place.file};
    return &*states_.emplace(std::move(key), Followed{make()}).first;
  }

  std::map<Key, Followed, Less> states_;
  Entry* before_ = nullptr;
};

/// A series about the model's quality whose direction is known.
inline bool IsLoss(SeriesRole role) {
  return role == SeriesRole::kTrainLoss || role == SeriesRole::kValidationLoss;
}
inline bool IsScore(SeriesRole role) {
  return role == SeriesRole::kTrainScore || role == SeriesRole::kValidationScore;
}

}  // namespace whystop
