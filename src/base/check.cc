#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace whystop {

void CheckFailed(const char* condition, const char* why, const char* file, int line) {
  std::fprintf(stderr, "whystop: internal error: %s (%s) at %s:%d\n", why, condition, file, line);
  std::abort();
}

}  // namespace whystop
