#include "view/mark_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/human.h"

namespace whystop {
namespace {

constexpr std::int64_t kMarksOfAKind = 40;
constexpr int kMarksOfADetector = 4;
constexpr std::size_t kEpochMarksMax = 256;
constexpr std::size_t kTextBytesMax = 300;

std::string TextOf(const Observation& seen, const char* name) {
  const std::string* text = seen.Text(name);
  return text == nullptr ? "" : *text;
}

std::string PlaceOf(const Observation& seen) {
  const std::string file = TextOf(seen, "file");
  const auto line = seen.Number("line");
  const std::string name = file.substr(file.rfind('/') + 1);
  return line ? fmt::format("{}:{:.0f}", name, *line) : name;
}

std::string TimeOf(const Observation& seen, const char* name) {
  const double seconds = seen.Number(name).value_or(0);
  return HumanDuration(std::chrono::nanoseconds(std::llround(seconds * 1e9)));
}

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
  if (seen.kind == "loop-exit") {
    const std::string how = TextOf(seen, "how");
    const std::string condition = TextOf(seen, "condition");
    Add({at, seen.step, "loop",
         fmt::format("loop left by {} at {}{}{}", how, PlaceOf(seen), condition.empty() ? "" : ": ",
                     condition),
         how != "end"});
  } else if (seen.kind == "framework-stop") {
    Add({at, seen.step, "loop", fmt::format("{} asked to stop", TextOf(seen, "who")), true});
  } else if (seen.kind == "nonfinite") {
    Add({at, seen.step, "not finite", fmt::format("not finite first in {}", TextOf(seen, "first")),
         true});
  } else if (seen.kind == "exception-caught") {
    Add({at, seen.step, "exception",
         fmt::format("{} caught at {}", TextOf(seen, "type"), PlaceOf(seen)), false});
  } else if (seen.kind == "session-resumed") {
    Add({at, seen.step, "resumed", "went on from a checkpoint", false});
  } else if (seen.kind == "checkpoint-loaded") {
    Add({at, seen.step, "checkpoint", "an earlier state was loaded into " + TextOf(seen, "optimizer"),
         false});
  } else if (seen.kind == "phase") {
    Add({at, seen.step, "phase", TextOf(seen, "phase"), false});
  } else if (seen.kind == "hang") {
    Add({at, seen.step, "hang",
         fmt::format("no progress for {}; the last sign was {}",
                     TimeOf(seen, "silence_s"), TextOf(seen, "last_sign")),
         true});
  } else if (seen.kind == "hang-over") {
    Add({at, seen.step, "hang",
         fmt::format("went on after {}", TimeOf(seen, "after_s")), false});
  }
}

void MarkList::Take(const SubjectSeen& seen) { subjects_[seen.id] = seen.subject; }

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

void MarkList::Take(const Event& event) {
  if (const auto* seen = event.As<SignalSeen>()) {
    const std::string from = seen->by_whystop             ? " by whystop"
                             : !seen->sender_name.empty() ? " from " + seen->sender_name
                             : seen->from_kernel          ? " from the terminal or kernel"
                                                          : "";
    Add({event.at, std::nullopt, "signal", SignalName(seen->signal) + from, true});
  } else if (const auto* fact = event.As<LogFact>()) {
    // The first line of each kind: a warning that comes with every step is one mark.
    if (!fact->process && (fact->role == LogFact::Role::kRoot || fact->role == LogFact::Role::kConfirm) &&
        facts_told_.insert(fact->cause).second) {
      Add({event.at, std::nullopt, "log", fact->line, fact->role == LogFact::Role::kRoot});
    }
  } else if (const auto* exception = event.As<ExceptionSeen>()) {
    Add({event.at, std::nullopt, "exception",
         exception->type + (exception->message.empty() ? "" : ": " + exception->message),
         exception->ended_process});
  } else if (const auto* line = event.As<KernelLine>()) {
    if (line->text.find("Killed process") != std::string::npos ||
        line->text.find("NVRM: Xid") != std::string::npos) {
      Add({event.at, std::nullopt, "kernel", line->text, true});
    }
  } else if (const auto* tie = event.As<ClockTie>()) {
    if (tie->suspended >= std::chrono::seconds(1)) {
      Add({event.at, std::nullopt, "pause",
           "the machine slept for " + HumanDuration(tie->suspended), false});
    }
  } else if (const auto* note = event.As<RecorderNote>()) {
    Add({event.at, std::nullopt, "recorder", note->text, false});
  }
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
