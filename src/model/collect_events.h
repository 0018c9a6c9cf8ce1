#pragma once

// A helper of tests.

#include <string>
#include <string_view>
#include <vector>

#include "model/event.h"

namespace whystop {

class CollectEvents : public EventSink {
 public:
  void Push(const Event& event) override { events.push_back(event); }

  template <typename T>
  std::vector<T> All() const {
    std::vector<T> found;
    for (const Event& event : events) {
      if (const T* body = event.As<T>()) {
        found.push_back(*body);
      }
    }
    return found;
  }
  std::vector<double> Values(std::string_view series) const {
    std::vector<double> values;
    for (const Scalar& scalar : All<Scalar>()) {
      if (scalar.series == series) {
        values.push_back(scalar.value);
      }
    }
    return values;
  }
  /// The last body of type T with this kind; an empty one where there is none.
  template <typename T>
  T Only(std::string_view kind) const {
    T only{};
    for (const T& body : All<T>()) {
      if (body.kind == kind) {
        only = body;
      }
    }
    return only;
  }
  std::vector<Observation> Observed(std::string_view kind) const {
    std::vector<Observation> found;
    for (Observation& observation : All<Observation>()) {
      if (observation.kind == kind) {
        found.push_back(std::move(observation));
      }
    }
    return found;
  }
  std::int64_t Dropped(std::string_view counter) const {
    std::int64_t count = 0;
    for (const Drop& drop : All<Drop>()) {
      count += drop.counter == counter ? drop.count : 0;
    }
    return count;
  }

  std::vector<Event> events;
};

}  // namespace whystop
