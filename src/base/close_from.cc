#include "base/close_from.h"

#include <dirent.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/parse.h"

namespace whystop {

void CloseFrom(int first) {
  if (::close_range(static_cast<unsigned>(first), ~0U, 0) == 0) {
    return;
  }
  std::vector<int> open;
  if (DIR* folder = ::opendir("/proc/self/fd")) {
    while (const dirent* entry = ::readdir(folder)) {  // NOLINT(concurrency-mt-unsafe): own DIR
      const auto number = ParseWhole<int>(std::string_view(entry->d_name));
      if (number && *number >= first && *number != ::dirfd(folder)) {
        open.push_back(*number);
      }
    }
    ::closedir(folder);
  } else {
    constexpr rlim_t kTriedMax = 1 << 16;
    rlimit limit{};
    const bool known = ::getrlimit(RLIMIT_NOFILE, &limit) == 0;
    const rlim_t end = known ? std::min(limit.rlim_cur, kTriedMax) : kTriedMax;
    for (int number = first; static_cast<rlim_t>(number) < end; ++number) {
      open.push_back(number);
    }
  }
  for (const int number : open) {
    ::close(number);
  }
}

}  // namespace whystop
