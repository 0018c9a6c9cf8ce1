#pragma once

#include <chrono>
#include <functional>
#include <map>

#include "base/fd.h"

namespace whystop {

/// One poll loop over descriptors that the callers own. Single-threaded; handlers may watch and
/// forget any descriptor.
class EventLoop {
 public:
  using Handler = std::function<void()>;

  void Watch(int fd, Handler on_readable);
  void Forget(int fd);
  /// Dispatches until Stop(), which may also have come before.
  void Run();
  void Stop() { stopped_ = true; }

 private:
  std::map<int, Handler> handlers_;
  bool stopped_ = false;
};

/// A timer that an EventLoop can watch.
class Timer {
 public:
  Timer();
  int fd() const { return fd_.get(); }
  /// Fires once after `delay`; replaces what was set before. Zero or less fires at once.
  void SetOnce(std::chrono::nanoseconds delay);
  /// Call when it fired.
  void Acknowledge() const;

 private:
  Fd fd_;
};

}  // namespace whystop
