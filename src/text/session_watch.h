#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>

#include "text/prefix.h"

namespace whystop {

/// Knows the start of a further run in one file: nohup.out, Slurm's append mode and logger files
/// hold many. A start is believed only if the run so far had come to something: it trained, or it
/// ended.
class SessionWatch {
 public:
  /// Something in the current run spoke of its end (an exception, a scheduler's word, a NUL run).
  void NoteFailure() { failed_ = true; }
  /// It went on after that.
  void NoteSurvival() { failed_ = false; }
  /// It spoke of a planned end.
  void NoteCompletion() { completed_ = true; }
  /// The current run trained.
  void NoteTraining() { trained_ = true; }
  /// Why the line starts another run, or nullptr. `opening`: launchers or frameworks say so when a
  /// run starts (rows of the signature table).
  const char* Push(const PeeledLine& line, bool opening);
  /// Another run has begun.
  void Reset();

 private:
  bool IsFirstLineAgain(const PeeledLine& line);

  bool failed_ = false;
  bool completed_ = false;
  bool trained_ = false;
  bool report_above_ = false;  // An LSF report that closes the output above it was read.
  bool in_report_ = false;     // Between the first and the last line of an LSF report.
  bool report_first_ = false;  // This file's LSF reports come before the output.
  int session_ = 0;
  std::int64_t lines_ = 0;  // Of the current run.
  int again_ = 0;           // First lines that came again after a planned end.
  // Of the file's first run, digits apart. A line that comes twice in one run is no mark: ranks
  // repeat each other.
  struct Mark {
    int session = 0;
    bool usable = true;
  };
  std::unordered_map<std::uint64_t, Mark> first_lines_;
};

}  // namespace whystop
