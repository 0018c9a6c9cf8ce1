#include "sense/mount_info.h"

#include "sense/proc_text.h"

namespace whystop {
namespace {

bool IsOctal(char letter) { return letter >= '0' && letter <= '7'; }

std::string Unescape(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\\' && at + 3 < text.size() && IsOctal(text[at + 1]) &&
        IsOctal(text[at + 2]) && IsOctal(text[at + 3])) {
      out.push_back(static_cast<char>((text[at + 1] - '0') * 64 + (text[at + 2] - '0') * 8 +
                                      (text[at + 3] - '0')));
      at += 3;
    } else {
      out.push_back(text[at]);
    }
  }
  return out;
}

}  // namespace

// "36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue"
std::vector<Mount> ParseMountInfo(std::string_view text) {
  std::vector<Mount> mounts;
  while (!text.empty()) {
    std::string_view line = TakeLine(text);
    TakeField(line);
    TakeField(line);
    Mount mount;
    mount.device = TakeField(line);
    mount.root = Unescape(TakeField(line));
    mount.mount_point = Unescape(TakeField(line));
    std::string_view field = TakeField(line);
    while (!field.empty() && field != "-") {
      field = TakeField(line);
    }
    mount.type = TakeField(line);
    mount.source = Unescape(TakeField(line));
    mount.super_options = TakeField(line);
    if (!mount.type.empty() && mount.mount_point.starts_with('/')) {
      mounts.push_back(std::move(mount));
    }
  }
  return mounts;
}

bool IsWithin(std::string_view path, std::string_view folder) {
  if (folder == "/") {
    return path.starts_with('/');
  }
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

const Mount* FindMount(const std::vector<Mount>& mounts, std::string_view path) {
  const Mount* best = nullptr;
  for (const Mount& mount : mounts) {
    // Of two mounts on one point the later one hides the earlier.
    if (IsWithin(path, mount.mount_point) &&
        (best == nullptr || mount.mount_point.size() >= best->mount_point.size())) {
      best = &mount;
    }
  }
  return best;
}

}  // namespace whystop
