#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "model/event.h"

namespace whystop {

/// Gives every subject its number. Host, groups, mounts and GPUs are found again by equality;
/// processes are not, since a pid may come back as another process.
class SubjectTable {
 public:
  /// The number of `subject`; appends a SubjectSeen to `out` the first time.
  SubjectId Find(const Subject& subject, RunTime now, std::vector<Event>& out);
  /// A number of its own, whatever else has the same name.
  SubjectId Add(Subject subject, RunTime now, std::vector<Event>& out);

 private:
  SubjectId next_ = 1;
  std::vector<std::pair<Subject, SubjectId>>
      known_;  // Few: groups, mounts and GPUs of one machine.
};

/// One sweep in the making: announcements go out at once, readings wait for the Sample at its end.
class Sweep {
 public:
  Sweep(RunTime now, SubjectTable& subjects, std::vector<Event>& out)
      : now_(now), subjects_(subjects), out_(out) {}

  RunTime now() const { return now_; }
  /// Absent is not zero: without a value there is no reading.
  void Add(SubjectId subject, Quantity quantity, std::optional<std::int64_t> value) {
    if (value) {
      readings_.push_back({subject, quantity, *value});
    }
  }
  void Announce(EventBody body) { out_.push_back({now_, std::move(body)}); }
  SubjectId Find(const Subject& subject) { return subjects_.Find(subject, now_, out_); }
  SubjectId AddSubject(Subject subject) { return subjects_.Add(std::move(subject), now_, out_); }
  const std::vector<Reading>& readings() const { return readings_; }
  void Finish() { Announce(Sample{std::move(readings_)}); }

 private:
  RunTime now_;
  SubjectTable& subjects_;
  std::vector<Event>& out_;
  std::vector<Reading> readings_;
};

}  // namespace whystop
