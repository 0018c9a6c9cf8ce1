#pragma once

#include <map>
#include <string>
#include <vector>

#include "sense/system_sensors.h"

namespace whystop {

/// One line of `whystop doctor`: something that can or cannot be seen here, or a limit in force.
struct SurroundingFact {
  enum class State {
    kOk,
    kLimited,      // A limit that can end a run, or a view that is only partial.
    kUnavailable,  // Cannot be seen here.
  };
  std::string name;   // "memory limit"
  std::string value;  // "4.0 GiB in cgroup /job"
  State state = State::kOk;
  std::string advice;  // What it means or how to change it; may be empty.
};

struct SurroundingsInput {
  SenseRoots roots;
  std::string working_folder;
  std::string recording_folder;
  std::map<std::string, std::string> environment;  // Read by the caller; only known names are used.
  bool gpu = true;
};

/// What whystop would see of a job started here and now. May take seconds if a file system or a GPU
/// driver does not answer.
std::vector<SurroundingFact> ReadSurroundings(const SurroundingsInput& input);

}  // namespace whystop
