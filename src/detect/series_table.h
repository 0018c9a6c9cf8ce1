#pragma once

#include <compare>
#include <cstddef>
#include <map>
#include <string>
#include <utility>

#include "model/event.h"

namespace whystop {

/// Something for each series of a run. Bounded: series beyond the limit are not followed.
template <typename State>
class SeriesTable {
 public:
  /// Where a series comes from: its name, its rank (-1: not known) and the file it was read from.
  /// The probe's "loss" and the "loss" that the program prints are two series.
  struct Key {
    std::string name;
    int rank = -1;
    std::string file;
    auto operator<=>(const Key&) const = default;
  };

  /// nullptr: the table is full and this series is new. `make` builds the state of a new one.
  template <typename Make>
  State* Find(const Scalar& scalar, Make make) {
    Key key{scalar.series, scalar.rank.value_or(-1), scalar.place.file};
    const auto found = states_.find(key);
    if (found != states_.end()) {
      return &found->second;
    }
    if (states_.size() >= kSeriesMax) {
      return nullptr;
    }
    return &states_.emplace(std::move(key), make()).first->second;
  }

  const std::map<Key, State>& states() const { return states_; }

 private:
  static constexpr std::size_t kSeriesMax = 64;
  std::map<Key, State> states_;
};

/// A series about the model's quality whose direction is known.
inline bool IsLoss(SeriesRole role) {
  return role == SeriesRole::kTrainLoss || role == SeriesRole::kValidationLoss;
}
inline bool IsScore(SeriesRole role) {
  return role == SeriesRole::kTrainScore || role == SeriesRole::kValidationScore;
}

}  // namespace whystop
