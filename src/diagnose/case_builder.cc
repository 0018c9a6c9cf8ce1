#include "diagnose/case_builder.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <vector>

#include "base/human.h"
#include "model/observations.h"
#include "sign/observed.h"

namespace whystop {
namespace {

constexpr double kEndless = 1e15;

constexpr std::size_t kReadingsMax = 8192;
constexpr std::size_t kLogKindsMax = 512;
constexpr std::size_t kFilesMax = 4096;
constexpr std::size_t kProcessesMax = 1024;
constexpr std::size_t kObservationKindsMax = 128;

template <typename T>
void KeepFurthest(std::optional<T>& kept, const std::optional<T>& seen) {
  if (seen && (!kept || *seen > *kept)) {
    kept = seen;
  }
}

bool EndedBadly(const ProcessEnd& ended) { return ended.end && ended.end->ShellCode() != 0; }

}  // namespace

void CaseBuilder::Push(const Event& event) {
  ++order_;
  now_ = event.at;
  file_.last_at = std::max(file_.last_at, event.at);
  if (const auto* sample = event.As<Sample>()) {
    Take(*sample, event.at);
  } else if (const auto* subject = event.As<SubjectSeen>()) {
    subjects_[subject->id] = subject->subject;
  } else if (const auto* scalar = event.As<Scalar>()) {
    CountMetric(scalar->place.file);
    last_metric_at_ = std::max(last_metric_at_, event.at);
  } else if (const auto* start = event.As<RunStart>()) {
    Take(*start);
  } else if (const auto* begun = event.As<ProcessStart>()) {
    time_limits_.Push(*begun, event.at);
  } else if (const auto* ended = event.As<ProcessEnd>()) {
    Take(*ended);
    if (auto limit = time_limits_.Push(*ended, event.at)) {
      file_.time_limits_met.push_back("`" + *std::move(limit) + "`");
    }
  } else if (const auto* seen = event.As<SignalSeen>()) {
    signals_.Push(*seen);
  } else if (const auto* tie = event.As<ClockTie>()) {
    file_.suspended += tie->suspended;
  } else if (const auto* line = event.As<KernelLine>()) {
    kernel_lines_.Push(*line);
  } else if (const auto* fact = event.As<LogFact>()) {
    Take(*fact);
  } else if (const auto* exception = event.As<ExceptionSeen>()) {
    Take(*exception);
  } else if (const auto* progress = event.As<Progress>()) {
    Take(*progress);
  } else if (const auto* observation = event.As<Observation>()) {
    Take(*observation);
  } else if (const auto* drop = event.As<Drop>()) {
    std::int64_t& count = drops_[drop->counter];
    if (__builtin_add_overflow(count, drop->count, &count)) {
      count = std::numeric_limits<std::int64_t>::max();
    }
  } else if (const auto* note = event.As<RecorderNote>()) {
    notes_.Push(*note);
  } else if (const auto* end = event.As<RunEnd>()) {
    file_.end = *end;
  } else if (const auto* text_end = event.As<TextEnd>()) {
    file_.text_end = *text_end;
  }
}

void CaseBuilder::CountMetric(const std::string& file) {
  ++file_.metric_points;
  if (last_file_ == nullptr || last_file_->first != file) {
    if (file_metrics_.size() >= kFilesMax) {
      file_metrics_.clear();
    }
    last_file_ = &*file_metrics_.try_emplace(file, 0).first;
  }
  ++last_file_->second;
}

std::int64_t CaseBuilder::MetricsOf(const std::string& file) const {
  const auto found = file_metrics_.find(file);
  return found == file_metrics_.end() ? 0 : found->second;
}

void CaseBuilder::Take(const RunStart& start) {
  file_.start = start;
  file_.watched = true;
}

void CaseBuilder::Take(const Sample& sample, RunTime at) {
  WatchedReading* before = nullptr;
  for (const Reading& reading : sample.readings) {
    const std::uint64_t key =
        (std::uint64_t{reading.subject} << 16) | static_cast<std::uint64_t>(reading.quantity);
    WatchedReading* found = before == nullptr ? nullptr : before->next;
    if (found == nullptr || found->key != key) {
      found = Find(reading, key, at);
      if (found == nullptr) {
        continue;
      }
      if (before != nullptr) {
        before->next = found;
      }
    }
    before = found;
    ReadingHistory& history = found->history;
    history.last = reading.value;
    history.last_at = at;
    history.min = std::min(history.min, reading.value);
    history.max = std::max(history.max, reading.value);
  }
}

/// nullptr: there are too many already.
CaseBuilder::WatchedReading* CaseBuilder::Find(const Reading& reading, std::uint64_t key,
                                               RunTime at) {
  auto found = readings_.find(key);
  if (found == readings_.end()) {
    if (readings_.size() >= kReadingsMax) {
      return nullptr;
    }
    const auto subject = subjects_.find(reading.subject);
    WatchedReading watched;
    watched.key = key;
    watched.history.subject = subject == subjects_.end() ? Subject{} : subject->second;
    watched.history.quantity = reading.quantity;
    watched.history.first = watched.history.min = watched.history.max = reading.value;
    watched.history.first_at = at;
    found = readings_.emplace(key, std::move(watched)).first;
  }
  return &found->second;
}

void CaseBuilder::Take(const ProcessEnd& ended) {
  if (ended.is_job) {
    file_.job_end = ended;
  } else {
    (EndedBadly(ended) ? failed_processes_ : ended_processes_).Push(ended);
  }
}

void CaseBuilder::Take(const LogFact& fact) {
  const std::pair key{fact.cause, fact.role};
  auto found = log_facts_.find(key);
  if (found == log_facts_.end()) {
    if (log_facts_.size() >= kLogKindsMax) {
      return;
    }
    found = log_facts_.emplace(key, FirstAndLast<Kept<LogFact>>(4, 8)).first;
  }
  found->second.Push(Keep(fact));
}

void CaseBuilder::Take(const ExceptionSeen& seen) { exceptions_.Push(Keep(seen)); }

void CaseBuilder::TakeStep(const Progress& progress) {
  if (!progress.process || !progress.step || (steps_.size() >= kProcessesMax && !steps_.contains(*progress.process))) {
    return;
  }
  ProcessSteps& steps = steps_[*progress.process];
  if (steps.process == 0) {
    steps = {*progress.process, progress.rank, *progress.step, *progress.step, now_, now_};
  }
  if (*progress.step > steps.last) {
    steps.last = *progress.step;
    steps.last_at = now_;
  }
}

void CaseBuilder::Take(const Progress& progress) {
  TakeStep(progress);
  if (progress.rank.value_or(0) == 0) {
    Progress told = progress;
    if (told.epochs_planned && static_cast<double>(*told.epochs_planned) > kEndless) {
      told.epoch.reset();
      told.epochs_planned.reset();  // "As many as it takes", in the words of a framework that counts steps.
    }
    (progress.process ? probe_progress_ : log_progress_).Take(told);
  }
}

void CaseBuilder::Progresses::Take(const Progress& progress) {
  // Another training, or counters that start over: folds, stages, another process of the job.
  const bool another = now.process != progress.process || now.training != progress.training;
  const bool over = progress.epoch && now.epoch && *progress.epoch < *now.epoch;
  if (another || over) {
    const auto planned = now.epochs_planned;
    now = Progress{};
    now.epochs_planned = another ? std::nullopt : planned;
    now.process = progress.process;
    now.training = progress.training;
  }
  KeepFurthest(now.epoch, progress.epoch);
  KeepFurthest(now.step, progress.step);
  now.epochs_planned = progress.epochs_planned ? progress.epochs_planned : now.epochs_planned;
  now.steps_planned = progress.steps_planned ? progress.steps_planned : now.steps_planned;
}

namespace {

bool HasPlan(const Progress& progress) {
  return progress.epochs_planned || progress.steps_planned;
}

/// A counter stands one behind its last turn, and counts from 0 or from 1: no place lies beyond the end.
template <typename T>
void KeepInside(std::optional<T>& at, std::optional<T>& planned) {
  if (at && planned && *at > *planned) {
    if (*at > *planned + 1) {
      planned.reset();  // It counts something else.
    } else {
      at = planned;
    }
  }
}

}  // namespace

/// What the probe read in the loops goes before what the program printed, which may count anything.
Progress CaseBuilder::ProgressNow() const {
  const Progress& probe = probe_progress_.now;
  const Progress& log = log_progress_.now;
  Progress now = HasPlan(probe) || !HasPlan(log) ? probe : log;
  if (!HasPlan(now)) {
    now.step = now.step ? now.step : log.step;
    now.epoch = now.epoch ? now.epoch : log.epoch;
  }
  // "Training for 50000 batches", and then no count: the steps themselves are counted.
  if (now.steps_planned && !now.step) {
    now.step = probe.step;
  }
  // Looks at the loop are few: print and probe that count to the same end may both be asked how far it came.
  if (now.epochs_planned && now.epochs_planned == log.epochs_planned) {
    KeepFurthest(now.epoch, log.epoch);
  }
  KeepInside(now.epoch, now.epochs_planned);
  KeepInside(now.step, now.steps_planned);
  return now;
}

void CaseBuilder::Take(const Observation& seen) {
  if (seen.kind == "session-start") {
    StartSession();
    return;
  }
  file_.probe_loaded = file_.probe_loaded || seen.kind == "python";
  if (seen.kind == seen::ChildTimeUp::kKind) {
    const auto up = As<seen::ChildTimeUp>(seen);
    file_.time_limits_met.push_back(up.program.value_or("a program") + ", which its parent gave " + HumanNumber(OrZero(up.limit_s)) + " s,");
  }
  auto found = observations_.find(seen.kind);
  if (found == observations_.end()) {
    if (observations_.size() >= kObservationKindsMax) {
      return;
    }
    found = observations_.emplace(seen.kind, FirstAndLast<Kept<Observation>>(64, 64)).first;
  }
  found->second.Push({order_, file_.metric_points, 0, now_, seen});
}

/// A log that several runs appended to: the verdict is about the last one.
void CaseBuilder::StartSession() {
  ++file_.sessions;
  log_facts_.clear();
  exceptions_ = FirstAndLast<Kept<ExceptionSeen>>(8, 24);
  log_progress_ = {};
  file_.metric_points = 0;
  file_metrics_.clear();
  last_file_ = nullptr;
}

template <typename T>
CaseBuilder::Kept<T> CaseBuilder::Keep(const T& value) const {
  return {order_, file_.metric_points, MetricsOf(value.place.file), now_, value};
}

/// Files are read one after the other: what another file holds did not come later.
/// Points of a ring are collected up to a second after they were made: those from before the line
/// do not follow it.
template <typename T>
std::int64_t CaseBuilder::MetricsAfter(const Kept<T>& kept) const {
  if (file_.watched && last_metric_at_ <= kept.at) {
    return 0;
  }
  if (!file_.watched && !kept.value.place.file.empty()) {
    return MetricsOf(kept.value.place.file) - kept.metrics_before_in_file;
  }
  return file_.metric_points - kept.metrics_before;
}

CaseFile CaseBuilder::Build() const {
  CaseFile file = file_;
  file.progress = ProgressNow();
  auto append = [](auto& list) { return [&list](const auto& value) { list.push_back(value); }; };
  failed_processes_.ForEach(append(file.process_ends));
  ended_processes_.ForEach(append(file.process_ends));
  signals_.ForEach(append(file.signals));
  kernel_lines_.ForEach(append(file.kernel_lines));
  notes_.ForEach([&file](const RecorderNote& note) { file.notes.push_back(note.text); });
  for (const auto& [counter, count] : drops_) {
    file.drops.push_back({counter, count});
  }
  for (const auto& [process, steps] : steps_) {
    file.steps.push_back(steps);
  }
  for (const auto& [key, watched] : readings_) {
    file.readings.push_back(watched.history);
  }
  std::sort(file.readings.begin(), file.readings.end(),
            [](const ReadingHistory& a, const ReadingHistory& b) {
              return std::tie(a.quantity, a.subject.kind, a.subject.number, a.subject.name) <
                     std::tie(b.quantity, b.subject.kind, b.subject.number, b.subject.name);
            });
  std::vector<Kept<LogFact>> facts;
  for (const auto& [key, kept] : log_facts_) {
    kept.ForEach(append(facts));
  }
  std::sort(facts.begin(), facts.end(),
            [](const auto& a, const auto& b) { return a.order < b.order; });
  for (Kept<LogFact>& kept : facts) {
    kept.value.metrics_after = MetricsAfter(kept);
    file.log_facts.push_back(std::move(kept.value));
  }
  exceptions_.ForEach([this, &file](const Kept<ExceptionSeen>& kept) {
    file.exceptions.push_back(kept.value);
    file.exceptions.back().metrics_after = MetricsAfter(kept);
  });
  for (const auto& [kind, kept] : observations_) {
    kept.ForEach([&file](const Kept<Observation>& one) { file.observations.push_back(one.value); });
  }
  return file;
}

}  // namespace whystop
