#pragma once

namespace whystop {

/// Ends this process (never the job's) with one line on stderr.
[[noreturn]] void CheckFailed(const char* condition, const char* why, const char* file, int line);

}  // namespace whystop

/// A broken invariant is our own bug. On in all builds.
#define WS_CHECK(condition, why)                                     \
  do {                                                               \
    if (!(condition)) {                                              \
      ::whystop::CheckFailed(#condition, (why), __FILE__, __LINE__); \
    }                                                                \
  } while (false)
