#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "sense/system_sensors.h"

namespace whystop {

/// The folder of a fake machine, see tests/roots/README.md.
inline SenseRoots FakeRoots(const std::string& name) {
  const std::string root = std::string(WHYSTOP_SOURCE_DIR) + "/tests/roots/" + name;
  return {root + "/proc", root + "/sys", root + "/dev", root};
}

/// One sweep for a test to look into.
class TestSweep {
 public:
  explicit TestSweep(RunTime now = std::chrono::seconds(60)) : sweep(now, table_, events) {}

  /// What was read, by the name of the quantity.
  std::optional<std::int64_t> Value(const std::string& subject_name, Quantity quantity) const {
    for (const Event& event : events) {
      const auto* seen = event.As<SubjectSeen>();
      if (seen == nullptr || seen->subject.name != subject_name) {
        continue;
      }
      for (const Reading& reading : sweep.readings()) {
        if (reading.subject == seen->id && reading.quantity == quantity) {
          return reading.value;
        }
      }
    }
    return std::nullopt;
  }

  std::vector<Event> events;

 private:
  SubjectTable table_;

 public:
  Sweep sweep;  // Last: it refers to the others.
};

}  // namespace whystop
