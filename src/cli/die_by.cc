#include "cli/die_by.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace whystop {

bool WasTypedForAllOfUs(int signal) {
  if (signal != SIGINT && signal != SIGQUIT) {
    return false;
  }
  const int terminal = ::open("/dev/tty", O_RDWR | O_CLOEXEC);
  const bool in_front = terminal >= 0 && ::tcgetpgrp(terminal) == ::getpgrp();
  ::close(terminal);
  return in_front;
}

void DieBy(int signal) {
  const rlimit none{.rlim_cur = 0, .rlim_max = 0};
  ::setrlimit(RLIMIT_CORE, &none);
  ::prctl(PR_SET_DUMPABLE, 0);  // Where cores go to a program, the limit is not asked.
  ::signal(signal, SIG_DFL);
  sigset_t alone;
  ::sigemptyset(&alone);
  ::sigaddset(&alone, signal);
  ::sigprocmask(SIG_UNBLOCK, &alone, nullptr);
  ::kill(::getpid(), signal);
}

}  // namespace whystop
