#pragma once

#include <csignal>
#include <string_view>

namespace whystop {

/// How shells, launchers and libraries call a death by a signal.
struct SignalWord {
  std::string_view text;
  int signal = 0;
};

inline constexpr SignalWord kSignalWords[] = {{"Killed", SIGKILL},
                                              {"Terminated", SIGTERM},
                                              {"Hangup", SIGHUP},
                                              {"Aborted", SIGABRT},
                                              {"Bus error", SIGBUS},
                                              {"Segmentation fault", SIGSEGV},
                                              {"Illegal instruction", SIGILL},
                                              {"Floating point exception", SIGFPE},
                                              {"CPU time limit exceeded", SIGXCPU},
                                              {"File size limit exceeded", SIGXFSZ}};

}  // namespace whystop
