#include "wire/ring_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>

#include "wire/ring_format.h"

namespace whystop {

std::uint64_t ParseStartTicks(std::string_view stat) {
  // "4121 (a (strange) name) S 1 ...": the name may hold anything, so count fields from the last
  // parenthesis.
  constexpr int kFieldsAfterName = 20;
  const std::size_t name_end = stat.rfind(')');
  if (name_end == std::string_view::npos) {
    return 0;
  }
  std::size_t at = name_end + 1;
  for (int field = 0; field < kFieldsAfterName; ++field) {
    at = stat.find(' ', at);
    if (at == std::string_view::npos) {
      return 0;
    }
    ++at;
  }
  std::uint64_t ticks = 0;
  while (at < stat.size() && stat[at] >= '0' && stat[at] <= '9') {
    ticks = ticks * 10 + static_cast<std::uint64_t>(stat[at] - '0');
    ++at;
  }
  return ticks;
}

std::uint64_t ProcessStartTicks() {
  const int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    return 0;
  }
  char text[1024];
  ssize_t size = 0;
  do {
    size = read(fd, text, sizeof(text));
  } while (size < 0 && errno == EINTR);
  close(fd);
  return size > 0 ? ParseStartTicks({text, static_cast<std::size_t>(size)}) : 0;
}

std::uint32_t OwnPidNamespace() {
  // "pid:[4026531836]". Not by stat(), which would bind the client library to glibc 2.33.
  char name[64];
  const ssize_t size = readlink("/proc/self/ns/pid", name, sizeof(name));
  std::uint32_t number = 0;
  for (const char* at = name; size > 0 && at != name + size; ++at) {
    if (*at >= '0' && *at <= '9') {
      number = number * 10 + static_cast<std::uint32_t>(*at - '0');
    }
  }
  return number;
}

int CreateRingFile(const char* directory, int pid, std::uint64_t start_ticks, std::size_t bytes) {
  char path[PATH_MAX];
  for (int number = 0; number < kRingsPerProcessMax; ++number) {
    char suffix[16] = "";
    if (number > 0) {
      std::snprintf(suffix, sizeof(suffix), "-%d", number);
    }
    const int length = std::snprintf(path, sizeof(path), "%s/%d-%llu%s.ring", directory, pid,
                                     static_cast<unsigned long long>(start_ticks), suffix);
    if (length < 0 || static_cast<std::size_t>(length) >= sizeof(path)) {
      return -1;
    }
    const int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0 && errno == EEXIST) {
      continue;
    }
    if (fd < 0) {
      return -1;
    }
    int fault = 0;
    do {
      fault = posix_fallocate(fd, 0, static_cast<off_t>(bytes));
    } while (fault == EINTR);
    if (fault == 0) {
      return fd;
    }
    close(fd);
    unlink(path);
    return -1;
  }
  return -1;
}

std::string_view CutText(std::string_view text, std::size_t bytes_max) {
  if (text.size() <= bytes_max) {
    return text;
  }
  std::size_t size = bytes_max;
  while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xc0) == 0x80) {
    --size;
  }
  return {text.data(),
          size};  // Not substr: its range check would need libstdc++ in the client library.
}

}  // namespace whystop
