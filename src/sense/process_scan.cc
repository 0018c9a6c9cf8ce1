#include <dirent.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <set>

#include "sense/proc_text.h"
#include "sense/process_tree.h"

namespace whystop {

std::vector<pid_t> ScanDescendants(const std::string& proc_root, std::span<const pid_t> roots) {
  constexpr std::size_t kProcessesMax = 1 << 16;
  std::multimap<pid_t, pid_t> children_of;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(proc_root.c_str()), &::closedir);
  if (folder == nullptr) {
    return {};
  }
  // NOLINTNEXTLINE(concurrency-mt-unsafe): this DIR belongs to this call alone
  while (const dirent* entry = ::readdir(folder.get())) {
    const auto pid = ParseWhole<pid_t>(entry->d_name);
    if (!pid || children_of.size() >= kProcessesMax) {
      continue;
    }
    const auto text = ReadFile(proc_root + "/" + entry->d_name + "/stat", 4096);
    const auto stat = text ? ParseProcessStat(*text) : std::nullopt;
    if (stat) {
      children_of.emplace(static_cast<pid_t>(stat->parent_pid), *pid);
    }
  }
  std::vector<pid_t> found;
  std::set<pid_t> seen(roots.begin(), roots.end());
  std::vector<pid_t> open(roots.begin(), roots.end());
  while (!open.empty()) {
    const pid_t parent = open.back();
    open.pop_back();
    const auto [first, last] = children_of.equal_range(parent);
    for (auto child = first; child != last; ++child) {
      if (seen.insert(child->second).second) {
        found.push_back(child->second);
        open.push_back(child->second);
      }
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace whystop
