#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/event.h"
#include "view/bucket_line.h"

namespace whystop {

/// One line of a resource chart, and the limit it may not cross, where there is one.
struct ResourceLine {
  std::string_view panel;  // "memory", "cpu", "gpu", "disk", "pressure", "tasks": charts in order.
  std::string_view unit;   // "bytes", "cores", "percent", "bytes/s", "count"
  std::string label;       // "the job", "control group /train"
  std::optional<double> limit;
  BucketLine line;
};

/// Turns the samples of a run into lines for people: levels as they are, counters as rates.
class ResourceLines {
 public:
  void Push(const SubjectSeen& seen) { subjects_[seen.id] = seen.subject; }
  void Push(const Sample& sample, RunTime at);

  /// Lines in the order of their charts; what was zero throughout is left out.
  std::vector<ResourceLine> Lines() const;
  std::int64_t lines_left_out() const { return left_out_; }
  /// The newest value of a reading, where it was ever read.
  std::optional<std::int64_t> Newest(Subject::Kind kind, Quantity quantity) const;

 private:
  struct Followed {
    std::size_t recipe = 0;
    BucketLine line;
    std::optional<std::int64_t> value;   // What the next sample repeats when it says nothing.
    std::optional<std::int64_t> before;  // Of a counter, at `before_at`.
    RunTime before_at{};
  };
  using Key = std::pair<SubjectId, Quantity>;

  std::string LabelOf(const Followed& followed, SubjectId subject) const;
  void Follow(const Reading& reading);
  void Advance(Followed& followed, RunTime at);
  bool IsTelling(const Followed& followed, SubjectId subject) const;
  std::optional<double> LimitOf(const Followed& followed, SubjectId subject) const;

  std::map<SubjectId, Subject> subjects_;
  std::map<Key, Followed> followed_;
  std::map<Key, std::int64_t> newest_;  // Of what serves as a limit.
  std::int64_t left_out_ = 0;
};

}  // namespace whystop
