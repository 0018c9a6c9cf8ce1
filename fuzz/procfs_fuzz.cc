// Every parser of /proc files on any bytes: no crash, no overflow, nothing taken from beyond the
// end, and nothing that is negative where the kernel cannot mean it.

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "sense/host_parse.h"
#include "sense/kernel_log.h"
#include "sense/mount_info.h"
#include "sense/proc_text.h"
#include "sense/process_parse.h"

namespace {

void Require(bool condition) {
  if (!condition) {
    std::abort();
  }
}

void RequireNotNegative(std::optional<std::int64_t> value) { Require(!value || *value >= 0); }

void FuzzProcess(std::string_view text) {
  if (const auto stat = whystop::ParseProcessStat(text)) {
    Require(stat->rss_pages >= 0 && stat->user_ticks >= 0 && stat->reaped_ticks >= 0);
    Require(stat->name.data() >= text.data() &&
            stat->name.data() + stat->name.size() <= text.data() + text.size());
  }
  const auto status = whystop::ParseProcessStatus(text);
  RequireNotNegative(status.anon_bytes);
  RequireNotNegative(status.swap_bytes);
  RequireNotNegative(whystop::ParseProcessIo(text).read_bytes);
  RequireNotNegative(whystop::ParsePssBytes(text));
  RequireNotNegative(whystop::ParseOpenFilesLimit(text));
  std::vector<pid_t> pids;
  whystop::ParseChildren(text, pids);
  for (const pid_t pid : pids) {
    Require(pid > 0);
  }
  const std::string command = whystop::ParseCommandLine(text, 64);
  Require(command.size() <= 64 && command.find('\n') == std::string::npos);
}

void FuzzHost(std::string_view text) {
  RequireNotNegative(whystop::ParseMeminfo(text).total_bytes);
  RequireNotNegative(whystop::ParseVmstat(text).oom_kills);
  RequireNotNegative(whystop::ParseHostStat(text).busy_ticks);
  RequireNotNegative(whystop::ParseNetDev(text).errors);
  RequireNotNegative(whystop::ParseLoadMilli(text));
  RequireNotNegative(whystop::ParsePressure(text).some);
  for (const whystop::Mount& mount : whystop::ParseMountInfo(text)) {
    Require(mount.mount_point.starts_with('/'));
  }
  if (const auto record = whystop::ParseKernelRecord(text)) {
    whystop::KernelLineMatters(record->text);
    whystop::MentionsPid(record->text, record->number);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string exact(reinterpret_cast<const char*>(data), size);
  FuzzProcess(exact);
  FuzzHost(exact);
  return 0;
}
