#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "cli/view_of.h"

namespace whystop {

/// Reads a recording as it grows, and can say at any time how the run stands.
class RunFollower {
 public:
  static Result<std::unique_ptr<RunFollower>> Open(const std::string& directory);
  virtual ~RunFollower() = default;

  /// Reads what is there by now.
  virtual void Pump() = 0;
  virtual SeenRun See() const = 0;
  /// The same with what was printed and the user's source, as the page shows it.
  virtual SeenRun SeeWithExcerpts() = 0;
  /// The job runs.
  virtual bool alive() const = 0;
  /// What it printed last.
  virtual std::string LastLine() const = 0;
};

}  // namespace whystop
