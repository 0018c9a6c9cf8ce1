#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "model/event.h"

namespace whystop {

/// The time that a command line of timeout(1) grants; nullopt: it is none.
std::optional<std::chrono::nanoseconds> TimeGranted(std::string_view command);

/// Follows the processes of timeout(1) anywhere in the tree: whose time ran out is told by how long they lived.
class TimeLimits {
 public:
  void Push(const ProcessStart& started, RunTime at);
  /// The command line of a timeout(1) whose time was up when it ended.
  std::optional<std::string> Push(const ProcessEnd& ended, RunTime at);

 private:
  struct Begun {
    std::string command;
    RunTime at{};
  };
  std::map<std::int64_t, Begun> begun_;  // By process; bounded.
};

}  // namespace whystop
