#include "view/mark_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <variant>

#include "base/human.h"
#include "view/observation_mark.h"

namespace whystop {
namespace {

constexpr std::int64_t kMarksOfAKind = 40;
constexpr int kMarksOfADetector = 4;
constexpr std::size_t kEpochMarksMax = 256;
constexpr std::size_t kTextBytesMax = 300;
constexpr std::chrono::seconds kToldLate{1};

/// "loss spike: train/loss".
std::string WordsOf(const Finding& finding) {
  std::string words = finding.detector;
  std::replace_if(words.begin(), words.end(), [](char c) { return c == '/' || c == '-'; }, ' ');
  return finding.series.empty() ? words : words + ": " + finding.series;
}

}  // namespace

void MarkList::Add(TimeMark mark) {
  if (mark.text.size() > kTextBytesMax) {
    mark.text.resize(kTextBytesMax);
  }
  // The last line of a traceback is also a line of the log.
  const bool told = std::any_of(marks_.begin(), marks_.end(), [&mark](const TimeMark& other) {
    return other.at == mark.at && other.text == mark.text;
  });
  if (!told && ++counts_[mark.kind] <= kMarksOfAKind) {
    marks_.push_back(std::move(mark));
  }
}

void MarkList::Epoch(RunTime at, std::optional<std::int64_t> step, double epoch) {
  if (epochs_seen_++ % epochs_a_mark_ != 0) {
    return;
  }
  if (epochs_.size() >= kEpochMarksMax) {
    for (std::size_t i = 0; 2 * i < epochs_.size(); ++i) {
      epochs_[i] = epochs_[2 * i];
    }
    epochs_.resize((epochs_.size() + 1) / 2);
    epochs_a_mark_ *= 2;
  }
  epochs_.push_back({at, step, "epoch", fmt::format("epoch {:.0f}", epoch), false});
}

void MarkList::Take(const Observation& seen, RunTime at) {
  if (auto mark = MarkOf(seen, at)) {
    // Once lost, it is reported again and again: the first time tells.
    const bool again = mark->kind == "not finite" && !told_once_.insert(mark->text).second;
    if (!again) {
      Add(std::move(*mark));
    }
  }
}

void MarkList::Take(const SubjectSeen& seen, RunTime) { subjects_[seen.id] = seen.subject; }

void MarkList::Take(const Sample& sample, RunTime at) {
  for (const Reading& reading : sample.readings) {
    if (reading.quantity != Quantity::kCgroupOomKills &&
        reading.quantity != Quantity::kHostOomKills) {
      continue;
    }
    const auto [known, fresh] =
        kills_.try_emplace({reading.subject, reading.quantity}, reading.value);
    if (!fresh && reading.value > known->second) {
      const bool host = reading.quantity == Quantity::kHostOomKills;
      Add({at, std::nullopt, "oom-kill",
           host ? "the kernel killed a process of this machine: out of memory"
                : fmt::format("out-of-memory kill in control group {}",
                              subjects_[reading.subject].name),
           true});
    }
    known->second = reading.value;
  }
}

void MarkList::Take(const ProcessEnd& end, RunTime at) {
  const bool killed = end.end && end.end->kind() == ChildEnd::Kind::kSignaled;
  if (end.is_job) {
    const std::string how = !end.end ? "ended"
                            : killed ? "killed by " + SignalName(end.end->signal())
                                     : fmt::format("exit {}", end.end->exit_code());
    Add({at, std::nullopt, "end", "the job ended: " + how,
         killed || (end.end && end.end->exit_code() != 0)});
  } else if (killed) {
    Add({at, std::nullopt, "process",
         fmt::format("{} ({}) killed by {}", end.name, end.pid, SignalName(end.end->signal())),
         true});
  }
}

void MarkList::Take(const SignalSeen& seen, RunTime at) {
  const std::string from = seen.by_whystop             ? " by whystop"
                           : !seen.sender_name.empty() ? " from " + seen.sender_name
                           : seen.from_kernel          ? " from the terminal or kernel"
                                                       : "";
  // Who passes a signal on tells of it after the job may have died of it.
  const auto end = std::find_if(marks_.begin(), marks_.end(),
                                [](const TimeMark& mark) { return mark.kind == "end"; });
  const bool late = end != marks_.end() && at - end->at < kToldLate;
  const RunTime when = late ? end->at - std::chrono::nanoseconds(1) : at;
  Add({when, std::nullopt, "signal", SignalName(seen.signal) + from, true});
}

void MarkList::Take(const LogFact& fact, RunTime at) {
  const bool telling =
      fact.role == LogFact::Role::kRoot || fact.role == LogFact::Role::kConfirm;
  // The first line of each kind: a warning that comes with every step is one mark.
  if (!fact.process && telling && told_once_.insert(fact.cause).second) {
    Add({at, std::nullopt, "log", fact.line, fact.role == LogFact::Role::kRoot});
  }
}

void MarkList::Take(const ExceptionSeen& seen, RunTime at) {
  Add({at, std::nullopt, "exception",
       seen.type + (seen.message.empty() ? "" : ": " + seen.message), seen.ended_process});
}

void MarkList::Take(const KernelLine& line, RunTime at) {
  if (line.text.find("Killed process") != std::string::npos ||
      line.text.find("NVRM: Xid") != std::string::npos) {
    Add({at, std::nullopt, "kernel", line.text, true});
  }
}

void MarkList::Take(const ClockTie& tie, RunTime at) {
  if (tie.suspended >= std::chrono::seconds(1)) {
    Add({at, std::nullopt, "pause", "the machine slept for " + HumanDuration(tie.suspended),
         false});
  }
}

void MarkList::Take(const RecorderNote& note, RunTime at) {
  Add({at, std::nullopt, "recorder", note.text, false});
}

void MarkList::Push(const Event& event) {
  std::visit([this, &event](const auto& body) { Take(body, event.at); }, event.body);
}

std::vector<TimeMark> MarkList::InOrder(const std::vector<Finding>& findings) const {
  std::vector<TimeMark> all = marks_;
  all.insert(all.end(), epochs_.begin(), epochs_.end());
  std::map<std::string, int> told;
  for (const Finding& finding : findings) {
    // The trend of every loss is on the curve itself.
    if (finding.detector != "loss/trend" && ++told[finding.detector] <= kMarksOfADetector) {
      all.push_back({finding.at, finding.step_from, "seen", WordsOf(finding), false});
    }
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const TimeMark& a, const TimeMark& b) { return a.at < b.at; });
  return all;
}

}  // namespace whystop
