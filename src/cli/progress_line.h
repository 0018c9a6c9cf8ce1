#pragma once

#include <string>

namespace whystop {

/// What goes on, on stderr: one line that is written over on a terminal, else a line whenever
/// `what` changes.
class ProgressLine {
 public:
  explicit ProgressLine(bool quiet);
  /// `left` changes all the time: it makes no new line.
  void Show(const std::string& what, const std::string& left);
  void Clear() const;

 private:
  bool quiet_;
  bool terminal_;
  std::string shown_;
};

/// Ctrl-C and SIGTERM no longer end this process; they are noted.
void NoteInterrupts();
bool Interrupted();

}  // namespace whystop
