#include "look/thread_facts.h"

#include <dirent.h>
#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <memory>

#include "base/fd.h"
#include "base/parse.h"
#include "look/descriptor_name.h"
#include "look/remote_memory.h"
#include "sense/process_parse.h"

namespace whystop {
namespace {

constexpr std::size_t kThreadsMax = 1024;

/// What a call waits for, as far as it is in its arguments.
enum class CallSubject { kNone, kDescriptor, kPolled, kProcess };

struct CallName {
  long number;
  const char* name;
  CallSubject first;
};
constexpr CallName kCalls[] = {
    {SYS_read, "read", CallSubject::kDescriptor},
    {SYS_write, "write", CallSubject::kDescriptor},
    {SYS_pread64, "pread", CallSubject::kDescriptor},
    {SYS_pwrite64, "pwrite", CallSubject::kDescriptor},
    {SYS_readv, "readv", CallSubject::kDescriptor},
    {SYS_writev, "writev", CallSubject::kDescriptor},
    {SYS_recvfrom, "recv", CallSubject::kDescriptor},
    {SYS_recvmsg, "recvmsg", CallSubject::kDescriptor},
    {SYS_sendto, "send", CallSubject::kDescriptor},
    {SYS_sendmsg, "sendmsg", CallSubject::kDescriptor},
    {SYS_accept, "accept", CallSubject::kDescriptor},
    {SYS_accept4, "accept", CallSubject::kDescriptor},
    {SYS_connect, "connect", CallSubject::kDescriptor},
    {SYS_fsync, "fsync", CallSubject::kDescriptor},
    {SYS_fdatasync, "fdatasync", CallSubject::kDescriptor},
    {SYS_flock, "flock", CallSubject::kDescriptor},
    {SYS_fcntl, "fcntl", CallSubject::kDescriptor},
    {SYS_ioctl, "ioctl", CallSubject::kDescriptor},
    {SYS_openat, "open", CallSubject::kNone},
    {SYS_newfstatat, "stat", CallSubject::kNone},
    {SYS_futex, "futex", CallSubject::kNone},
    {SYS_ppoll, "poll", CallSubject::kPolled},
    {SYS_epoll_pwait, "epoll_wait", CallSubject::kNone},
    {SYS_pselect6, "select", CallSubject::kNone},
    {SYS_wait4, "wait", CallSubject::kProcess},
    {SYS_waitid, "wait", CallSubject::kNone},
    {SYS_nanosleep, "sleep", CallSubject::kNone},
    {SYS_clock_nanosleep, "sleep", CallSubject::kNone},
    {SYS_rt_sigtimedwait, "sigwait", CallSubject::kNone},
    {SYS_rt_sigsuspend, "pause", CallSubject::kNone},
#ifdef SYS_poll  // Only the older machines have these.
    {SYS_poll, "poll", CallSubject::kPolled},
    {SYS_select, "select", CallSubject::kNone},
    {SYS_epoll_wait, "epoll_wait", CallSubject::kNone},
    {SYS_open, "open", CallSubject::kNone},
    {SYS_pause, "pause", CallSubject::kNone},
#endif
};

std::string FirstPolled(pid_t pid, const SystemCall& call) {
  const RemoteMemory memory(pid);
  const auto descriptor = memory.Value<std::int32_t>(call.arguments[0]);
  return descriptor ? DescriptorName(pid, *descriptor) : std::string();
}

/// The path that open and stat were given.
std::string PathArgument(pid_t pid, const SystemCall& call) {
  const RemoteMemory memory(pid);
#ifdef SYS_open
  const std::uint64_t address = call.number == SYS_open ? call.arguments[0] : call.arguments[1];
#else
  const std::uint64_t address = call.arguments[1];
#endif
  std::string path;
  for (std::size_t i = 0; i < 512; ++i) {
    const auto letter = memory.Value<char>(address + i);
    if (!letter || *letter == '\0') {
      break;
    }
    path += *letter;
  }
  return path;
}

void TellCall(pid_t pid, const SystemCall& call, ThreadLook& out) {
  const auto* const found =
      std::find_if(std::begin(kCalls), std::end(kCalls),
                   [&call](const CallName& name) { return name.number == call.number; });
  if (found == std::end(kCalls)) {
    out.waits_in = out.waits_in.empty() ? fmt::format("system call {}", call.number) : out.waits_in;
    return;
  }
  out.waits_in = found->name;
  if (out.waits_in == "select" && call.arguments[0] == 0) {
    out.waits_in = "sleep";  // Waits for no descriptor: how Python slept before 3.11.
  }
  const bool takes_path = out.waits_in == "open" || out.waits_in == "stat";
  if (takes_path) {
    out.waits_for = PathArgument(pid, call);
  } else if (found->first == CallSubject::kDescriptor) {
    out.waits_for = DescriptorName(pid, static_cast<int>(call.arguments[0]));
  } else if (found->first == CallSubject::kPolled) {
    out.waits_for = FirstPolled(pid, call);
  } else if (found->first == CallSubject::kProcess) {
    const auto child = static_cast<std::int32_t>(call.arguments[0]);
    out.waits_for = child > 0 ? fmt::format("process {}", child) : "any child process";
  }
}

}  // namespace

ThreadLook ReadThread(pid_t pid, pid_t tid) {
  const std::string folder = fmt::format("/proc/{}/task/{}/", pid, tid);
  ThreadLook out;
  out.tid = tid;
  if (const auto text = ReadFile(folder + "stat", 4096)) {
    if (const auto stat = ParseProcessStat(*text)) {
      static const long ticks = ::sysconf(_SC_CLK_TCK);
      out.name = std::string(stat->name);
      out.state = stat->state;
      out.cpu_ms = (stat->user_ticks + stat->system_ticks) * 1000 / ticks;
    }
  }
  if (out.state == 'R') {
    return out;
  }
  if (const auto channel = ReadFile(folder + "wchan", 256); channel && *channel != "0") {
    out.waits_in = std::string(Trim(*channel));
  }
  SystemCall call;
  if (const auto text = ReadFile(folder + "syscall", 512); text && ParseSystemCall(*text, call)) {
    TellCall(pid, call, out);
  }
  return out;
}

bool ParseSystemCall(std::string_view text, SystemCall& out) {
  text = Trim(text);
  std::size_t end = std::min(text.find(' '), text.size());
  const auto number = ParseWhole<long>(text.substr(0, end));
  if (!number || *number < 0) {
    return false;
  }
  out.number = *number;
  for (std::uint64_t& argument : out.arguments) {
    text.remove_prefix(std::min(text.size(), end + 1));
    end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    if (word.size() > 2) {
      std::from_chars(word.data() + 2, word.data() + word.size(), argument, 16);
    }
  }
  return true;
}

std::vector<ThreadLook> ReadThreads(pid_t pid) {
  std::vector<pid_t> tids;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(
      ::opendir(fmt::format("/proc/{}/task", pid).c_str()), &::closedir);
  while (const dirent* entry = folder ? ::readdir(folder.get()) : nullptr) {
    const auto tid = ParseWhole<pid_t>(std::string_view(entry->d_name));
    if (tid && tids.size() < kThreadsMax) {
      tids.push_back(*tid);
    }
  }
  std::sort(tids.begin(), tids.end(), [pid](pid_t a, pid_t b) {
    return std::pair(a != pid, a) < std::pair(b != pid, b);
  });
  std::vector<ThreadLook> out;
  for (const pid_t tid : tids) {
    out.push_back(ReadThread(pid, tid));
  }
  return out;
}

}  // namespace whystop
