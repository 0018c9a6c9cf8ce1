#pragma once

#include <string>
#include <string_view>

#include "model/verdict.h"

namespace whystop {

/// Runs the user's command when a run hangs, diverges or ends: by the shell, with the headline on its
/// standard input and, with the rest, in the environment. Without a command it does nothing.
class Notifier {
 public:
  Notifier(std::string command, std::string run) : command_(std::move(command)), run_(std::move(run)) {}

  bool wanted() const { return !command_.empty(); }
  /// To be shown how a run stands, now and then. Tells of what two looks in a row say: a hang anew
  /// when the run had moved on, that it diverged once.
  void Look(const Verdict& verdict);
  void End(const Verdict& verdict) { Tell("end", verdict); }

 private:
  void Tell(std::string_view event, const Verdict& verdict) const;

  const std::string command_;
  const std::string run_;
  int looks_hung_ = 0;
  int looks_diverged_ = 0;
  bool told_diverged_ = false;
};

}  // namespace whystop
