#include "supervise/process_name.h"

#include <sys/prctl.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>

#include "base/fd.h"
#include "base/parse.h"

namespace whystop {
namespace {

/// Field `number` (counted from 1, as proc(5) does) of /proc/self/stat.
std::uintptr_t StatField(std::string_view stat, int number) {
  stat.remove_prefix(std::min(stat.rfind(')') + 1, stat.size()));  // The name may contain spaces.
  for (int field = 2; !stat.empty(); ++field) {
    const std::string_view word = stat.substr(0, stat.find(' '));
    if (field == number) {
      return ParseWhole<std::uintptr_t>(Trim(word)).value_or(0);
    }
    stat.remove_prefix(std::min(word.size() + 1, stat.size()));
  }
  return 0;
}

}  // namespace

void RenameThisProcess(std::string_view name) {
  const std::string text(name);
  ::prctl(PR_SET_NAME, text.c_str());
  const auto stat = ReadFile("/proc/self/stat");
  if (!stat) {
    return;
  }
  constexpr int kArgumentsStart = 48;
  const std::uintptr_t start = StatField(*stat, kArgumentsStart);
  const std::uintptr_t end = StatField(*stat, kArgumentsStart + 1);
  // Outside a user namespace with odd rights these read as zero.
  if (start == 0 || end <= start + 1 || end - start > (4U << 20)) {
    return;
  }
  char* arguments =
      reinterpret_cast<char*>(start);  // NOLINT(performance-no-int-to-ptr): the kernel's own answer
  std::memset(arguments, 0, end - start);
  std::memcpy(arguments, text.data(), std::min(text.size(), end - start - 1));
}

}  // namespace whystop
