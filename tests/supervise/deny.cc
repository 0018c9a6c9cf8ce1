// `deny PROGRAM WHEN CALLS SEEN SECONDS -- COMMAND...`: runs the command and denies system calls to PROGRAM alone, not to the job
// that it starts. A seccomp filter asks us about every call of interest; we look whose it is and let it pass or answer
// with an error. What the dynamic loader asks for before PROGRAM's own first call is always let through: no program starts without.
//
// WHEN    start      from PROGRAM's first call on
//         job        from the moment that it executes the job
//         storm      three calls of four are interrupted, and the fourth is let through
//         nth:K      only its K-th call
//         never      nothing is denied; SEEN tells what was asked
// CALLS   CALL:ERROR of each call that may be denied, as numbers, with commas between them; behind the error an `f` for
//         calls that are denied only on regular files, as a disk does, or an `s` for shared mappings of files only. Empty with `never`.
// SEEN    a file that gets a line "NUMBER COUNT" for each call that PROGRAM made
// SECONDS after which all that is left is killed
//
// Ends as the command did; with 98 when the time was up, with 77 where the system cannot do this.

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <climits>
#include <fstream>
#include <map>
#include <new>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace {

constexpr int kCannot = 77;
constexpr int kTimeUp = 98;
constexpr unsigned long kWaitKillable = 1UL << 5;  // SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, Linux 5.19.

struct Wanted {
  std::string program;
  std::string when;
  struct Rule {
    int error = 0;
    bool files_only = false;
    bool shared_only = false;  // mmap of a file with MAP_SHARED.
  };
  std::map<int, Rule> calls;  // Empty: all are only looked at.
  long nth = 0;
};

std::vector<sock_filter> MakeFilter(const std::map<int, Wanted::Rule>& calls) {
  std::vector<sock_filter> rows = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
  for (const int call : {SYS_exit, SYS_exit_group, SYS_rt_sigreturn}) {
    rows.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(call), 0, 1));
    rows.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  }
  for (const auto& [call, rule] : calls) {
    rows.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(call), 0, 1));
    rows.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF));
  }
  rows.push_back(BPF_STMT(BPF_RET | BPF_K, calls.empty() ? SECCOMP_RET_USER_NOTIF : SECCOMP_RET_ALLOW));
  return rows;
}

/// In the child, which still shares its descriptors with the parent: the parent must have the listener before it can answer.
[[noreturn]] void BecomeCommand(const Wanted& wanted, std::atomic<int>& listener, std::atomic<bool>& taken, char** command) {
  std::map<int, Wanted::Rule> asked = wanted.calls;
  if (!asked.empty()) {
    asked.try_emplace(SYS_execve);  // It tells when the job begins.
  }
  std::vector<sock_filter> rows = MakeFilter(asked);
  sock_fprog program{static_cast<unsigned short>(rows.size()), rows.data()};
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  long made = ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER | kWaitKillable, &program);
  if (made < 0 && errno == EINVAL) {
    made = ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
  }
  listener = made < 0 ? -2 : static_cast<int>(made);
  if (made < 0) {
    ::_exit(kCannot);
  }
  while (!taken) {  // No call before that: nobody would answer it.
  }
  ::unshare(CLONE_FILES);
  ::close(static_cast<int>(made));
  ::execvp(command[0], command);
  ::_exit(127);
}

class Judge {
 public:
  explicit Judge(Wanted wanted) : wanted_(std::move(wanted)) {}

  /// The error that this call gets; 0: let it pass.
  int Answer(const seccomp_notif& asked) {
    if (!IsOurs(asked.pid)) {
      return 0;
    }
    if ((!started_ || loading_.count(asked.pid) > 0) && IsLoader(asked)) {
      return 0;
    }
    started_ = true;
    loading_.erase(asked.pid);
    const int call = asked.data.nr;
    const auto rule = wanted_.calls.find(call);
    const bool chosen = rule != wanted_.calls.end() && (!rule->second.files_only || IsFile(asked)) &&
                        (!rule->second.shared_only || ((asked.data.args[3] & MAP_SHARED) != 0 && static_cast<int>(asked.data.args[4]) >= 0));
    const long index = chosen ? ++count_ : count_;
    ++seen_[call];
    if (call == SYS_execve) {
      const bool itself = Executed(asked) == "/proc/self/exe" || Executed(asked) == wanted_.program;
      job_starts_ = job_starts_ || !itself;
      loading_.insert(asked.pid);
    }
    if (!chosen) {
      return 0;
    }
    if (wanted_.when == "storm") {
      return ++storms_[{asked.pid, call}] % 4 != 0 ? rule->second.error : 0;
    }
    if (wanted_.nth > 0) {
      return index == wanted_.nth ? rule->second.error : 0;
    }
    return wanted_.when == "job" && !job_starts_ ? 0 : rule->second.error;
  }

  void Write(const std::string& path) const {
    std::ofstream out(path);
    for (const auto& [call, count] : seen_) {
      out << call << " " << count << "\n";
    }
  }

 private:
  bool IsOurs(unsigned pid) const {
    char target[4096];
    const ssize_t size = ::readlink(("/proc/" + std::to_string(pid) + "/exe").c_str(), target, sizeof(target));
    return size > 0 && wanted_.program == std::string(target, static_cast<std::size_t>(size));
  }

  static bool IsFile(const seccomp_notif& asked) {
    const std::string path = "/proc/" + std::to_string(asked.pid) + "/fd/" + std::to_string(asked.data.args[0]);
    struct stat facts {};
    return ::stat(path.c_str(), &facts) == 0 && S_ISREG(facts.st_mode);
  }

  static std::string Executed(const seccomp_notif& asked) {
    const int memory = ::open(("/proc/" + std::to_string(asked.pid) + "/mem").c_str(), O_RDONLY | O_CLOEXEC);
    char path[4096] = {};
    const ssize_t size = ::pread(memory, path, sizeof(path) - 1, static_cast<off_t>(asked.data.args[0]));
    ::close(memory);
    return size > 0 ? path : "";
  }

  static bool IsLoader(const seccomp_notif& asked) {
    std::ifstream maps("/proc/" + std::to_string(asked.pid) + "/maps");
    for (std::string line; std::getline(maps, line);) {
      unsigned long long from = 0, to = 0;
      const bool inside = std::sscanf(line.c_str(), "%llx-%llx", &from, &to) == 2 && from <= asked.data.instruction_pointer &&
                          asked.data.instruction_pointer < to;
      if (inside) {
        return line.find("/ld-") != std::string::npos || line.find("/ld.so") != std::string::npos;
      }
    }
    return false;
  }

  Wanted wanted_;
  bool started_ = false;
  bool job_starts_ = false;
  std::set<unsigned> loading_;  // Processes that executed something.
  long count_ = 0;
  std::map<int, long> seen_;
  std::map<std::pair<unsigned, int>, int> storms_;
};

/// Whoever is left, down to the last: orphans come to us.
void KillAll() {
  for (;;) {
    std::ifstream children("/proc/self/task/" + std::to_string(::getpid()) + "/children");
    bool any = false;
    for (pid_t pid = 0; children >> pid;) {
      ::kill(pid, SIGKILL);
      any = true;
    }
    if (!any) {
      return;
    }
    while (::waitpid(-1, nullptr, WNOHANG) > 0) {
    }
  }
}

Wanted ReadWanted(char** argv) {
  Wanted wanted;
  char real[PATH_MAX];
  wanted.program = ::realpath(argv[1], real) != nullptr ? real : argv[1];
  wanted.when = argv[2];
  if (wanted.when.rfind("nth:", 0) == 0) {
    wanted.nth = std::atol(argv[2] + 4);
  }
  std::stringstream calls(argv[3]);
  for (std::string rule; std::getline(calls, rule, ',');) {
    const std::size_t colon = rule.find(':');
    wanted.calls[std::stoi(rule)] = {std::stoi(rule.substr(colon + 1)), rule.back() == 'f', rule.back() == 's'};
  }
  return wanted;
}

/// Answers until nobody is left who could ask. False: the time is up.
bool AnswerAll(int listener, Judge& judge, std::chrono::seconds patience) {
  seccomp_notif_sizes sizes{};
  ::syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &sizes);
  std::vector<char> asked_bytes(std::max<std::size_t>(sizes.seccomp_notif, sizeof(seccomp_notif)));
  std::vector<char> answer_bytes(std::max<std::size_t>(sizes.seccomp_notif_resp, sizeof(seccomp_notif_resp)));
  auto* asked = reinterpret_cast<seccomp_notif*>(asked_bytes.data());
  auto* answer = reinterpret_cast<seccomp_notif_resp*>(answer_bytes.data());
  const auto end = std::chrono::steady_clock::now() + patience;
  for (;;) {
    pollfd entry{.fd = listener, .events = POLLIN, .revents = 0};
    ::poll(&entry, 1, 1000);
    if ((entry.revents & POLLIN) == 0 && (entry.revents & (POLLHUP | POLLERR)) != 0) {
      return true;
    }
    if (std::chrono::steady_clock::now() > end) {
      return false;
    }
    std::fill(asked_bytes.begin(), asked_bytes.end(), 0);
    if ((entry.revents & POLLIN) == 0 || ::ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, asked) != 0) {
      continue;
    }
    std::fill(answer_bytes.begin(), answer_bytes.end(), 0);
    const int error = judge.Answer(*asked);
    answer->id = asked->id;
    answer->error = -error;
    answer->flags = error == 0 ? SECCOMP_USER_NOTIF_FLAG_CONTINUE : 0;
    ::ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, answer);  // Fails where the one who asked was killed meanwhile.
  }
}

}  // namespace

int main(int argc, char** argv) {
  constexpr int kCommandAt = 7;
  if (argc <= kCommandAt || std::strcmp(argv[kCommandAt - 1], "--") != 0) {
    std::fprintf(stderr, "usage: deny PROGRAM WHEN CALLS SEEN SECONDS -- COMMAND...\n");
    return 2;
  }
  const Wanted wanted = ReadWanted(argv);
  struct Shared {
    std::atomic<int> listener{-1};
    std::atomic<bool> taken{false};
  };
  auto* shared = new (::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) Shared;
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  const auto child = static_cast<pid_t>(::syscall(SYS_clone, CLONE_FILES | SIGCHLD, nullptr, nullptr, nullptr, nullptr));
  if (child == 0) {
    BecomeCommand(wanted, shared->listener, shared->taken, argv + kCommandAt);
  }
  while (shared->listener == -1) {
    ::usleep(100);
  }
  if (shared->listener < 0) {
    return kCannot;
  }
  // A number of its own before the child lets go of the shared table.
  const int listener = ::fcntl(shared->listener, F_DUPFD_CLOEXEC, 3);
  shared->taken = true;
  Judge judge(wanted);
  const bool ended = AnswerAll(listener, judge, std::chrono::seconds(std::atoi(argv[5])));
  judge.Write(argv[4]);
  int status = 0;
  if (!ended || ::waitpid(child, &status, 0) != child) {
    KillAll();
    return kTimeUp;
  }
  KillAll();
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
