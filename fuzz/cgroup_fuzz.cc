// Control group files on any bytes. The input is cut at its first NUL into a /proc/PID/cgroup, a
// mountinfo and a file of a group; the groups found must lie within the mounts.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "sense/cgroup_group.h"
#include "sense/cgroup_locate.h"

namespace {

std::string_view TakePart(std::string_view& text) {
  const auto end = text.find('\0');
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return part;
}

void Require(bool condition) {
  if (!condition) {
    std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string exact(reinterpret_cast<const char*>(data), size);
  std::string_view rest = exact;
  const auto memberships = whystop::ParseProcCgroup(TakePart(rest));
  const auto mounts = whystop::ParseMountInfo(TakePart(rest));
  for (const bool exists : {true, false}) {
    const auto folders = whystop::LocateCgroups(memberships, mounts,
                                                [exists](const std::string&) { return exists; });
    Require(exists || folders.empty());
    for (const whystop::CgroupFolder& folder : folders) {
      Require(std::any_of(mounts.begin(), mounts.end(), [&](const whystop::Mount& mount) {
        return whystop::IsWithin(folder.folder, mount.mount_point);
      }));
    }
  }
  const auto limit = whystop::ParseCgroupLimit(rest);
  Require(!limit || *limit >= 0);
  whystop::CgroupFacts facts;
  whystop::ParseMemoryStatV1(rest, facts);
  Require(!facts.file_bytes || *facts.file_bytes >= 0);
  whystop::ParseMemoryStatV2(rest, facts);
  Require(!facts.file_bytes || *facts.file_bytes >= 0);
  return 0;
}
