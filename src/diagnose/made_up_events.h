#pragma once

// Events of every kind, with values that fit badly together, drawn from bytes: a fuzzer's, or random ones. For tests and fuzzers only.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cause/cause.h"
#include "model/event.h"
#include "model/observation_schema.h"

namespace whystop {

class MadeUpEvents {
 public:
  explicit MadeUpEvents(std::string_view bytes) : bytes_(bytes) {}

  bool empty() const { return bytes_.empty(); }

  /// One of `below` choices; the first when the bytes are used up.
  std::size_t Pick(std::size_t below) {
    if (bytes_.empty()) {
      return 0;
    }
    std::size_t drawn = static_cast<unsigned char>(bytes_.front());
    bytes_.remove_prefix(1);
    if (below > 256 && !bytes_.empty()) {
      drawn = drawn << 8 | static_cast<unsigned char>(bytes_.front());
      bytes_.remove_prefix(1);
    }
    return drawn % below;
  }

  Event Next() {
    time_ns_ += OneOf<std::int64_t>({1'000'000'000, 0, 1'000'000, 3'600'000'000'000});
    return {RunTime(time_ns_), Body()};
  }

  std::optional<ChildEnd> End() {
    switch (Pick(4)) {
      case 0:
        return ChildEnd::Exited(0);
      case 1:
        return ChildEnd::Exited(OneOf<int>({1, 2, 3, 125, 137, 139, 255}));
      case 2:
        return ChildEnd::Signaled(OneOf<int>({9, 11, 15, 2, 6, 7, 1, 24, 25}));
      default:
        return std::nullopt;
    }
  }

 private:
  template <typename T>
  T OneOf(std::initializer_list<T> values) {
    return values.begin()[Pick(values.size())];
  }
  bool Coin() { return Pick(2) == 1; }
  double Number() {
    return OneOf<double>({0, 1, 2, 3, 10, 11, 57, 300, 301, 5000, 0.5, 2.302585, 0.693147, 1e-9, 1e9, 1e30, -1, -7.5, std::nan(""),
                          std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()});
  }
  std::int64_t Whole() {
    return OneOf<std::int64_t>({0, 1, 2, 3, 10, 11, 57, 300, 301, 5000, 1'000'000'000, -1, std::numeric_limits<std::int64_t>::max(),
                                std::numeric_limits<std::int64_t>::min()});
  }
  template <typename T>
  std::optional<T> Maybe(T value) {
    return Coin() ? std::optional<T>(std::move(value)) : std::nullopt;
  }
  std::string Word() {
    return OneOf<std::string>({"", "loss", "train.py", "val_loss", "epochs", "steps", "end", "break", "return", "exception", "exit", "ran-out", "patience", "target",
                               "not-finite", "budget", "train", "eval", "transformers", "lightning", "keras", "EarlyStopping", "bad < max_bad", "Adam", "SGD",
                               "CrossEntropyLoss", "MSELoss", "cpu", "cuda", "model.0.weight", "RuntimeError", "\xff\x1b[2J", "yes", "no", "float32", "float16", "-1"});
  }
  std::string Text() {
    return OneOf<std::string>({"", "CUDA out of memory. Tried to allocate 2.00 GiB", "No space left on device", "Killed", "slurmstepd: error: Exceeded job memory limit",
                               "returned nan values in its 0th output", "Expected more than 1 value per channel when training", "index 5 is out of bounds",
                               "oom-kill:constraint=CONSTRAINT_MEMCG,task=python,pid=100", "Out of memory: Killed process 100 (python)", "bad shape", "epoch 3"});
  }
  std::int64_t Process() { return OneOf<std::int64_t>({100, 101, 102, 99, 0}); }
  void Whose(auto& event) {
    event.process = Maybe<std::int64_t>(Process());
    event.training = Maybe<int>(static_cast<int>(Pick(3)));
    event.rank = Pick(4) == 0 ? std::optional<int>(static_cast<int>(Pick(3))) : std::nullopt;
  }

  EventBody Body() {
    switch (Pick(16)) {
      case 0:
        return MakeProgress();
      case 1:
        return MakeException();
      case 2:
        return MakeSignal();
      case 3:
        return ProcessEnd{.pid = Process(), .parent_pid = Process(), .name = Word(), .end = End(), .rss_bytes_max = Maybe(Whole()), .cpu_ms = Maybe(Whole()), .is_job = Coin()};
      case 4:
        return MakeStats();
      case 5:
        return MakeSample();
      case 6:
        return MakeSubject();
      case 7: {
        LogFact fact;
        const auto pages = AllPages();
        fact.cause = std::string(pages[Pick(pages.size())].id);
        fact.role = static_cast<LogFact::Role>(Pick(6));
        fact.line = Text();
        fact.fatal = Coin();
        fact.process = Maybe<std::int64_t>(Process());
        return fact;
      }
      case 8:
        return KernelLine{Text()};
      case 9:
        return Drop{.counter = "record.samples_dropped_queue_full", .count = Whole()};
      case 10:
        return ClockTie{.wall = RunTime(Whole()), .suspended = RunTime(OneOf<std::int64_t>({0, 1'000'000'000, 3'600'000'000'000}))};
      case 11:
        return MakeTextEnd();
      case 12:
      case 13:
        return MakeScalar();
      default:
        return MakeObservation();
    }
  }
  SignalSeen MakeSignal() {
    SignalSeen seen;
    seen.signal = OneOf<int>({15, 2, 1, 10, 9, 12});
    seen.sender_pid = Maybe<std::int64_t>(Process());
    seen.from_kernel = Coin();
    seen.forwarded = Coin();
    return seen;
  }
  SubjectSeen MakeSubject() {
    SubjectSeen seen;
    seen.id = static_cast<SubjectId>(Pick(4));
    seen.subject.kind = static_cast<Subject::Kind>(Pick(7));
    seen.subject.number = Process();
    seen.subject.name = Word();
    return seen;
  }
  TextEnd MakeTextEnd() {
    TextEnd end;
    end.kind = static_cast<TextEnd::Kind>(Pick(5));
    end.last_line = Text();
    return end;
  }
  Progress MakeProgress() {
    Progress progress;
    progress.epoch = Maybe(Number());
    progress.step = Maybe(Whole());
    progress.epochs_planned = Maybe(Number());
    progress.steps_planned = Maybe(Whole());
    Whose(progress);
    return progress;
  }
  ExceptionSeen MakeException() {
    ExceptionSeen seen;
    seen.type = OneOf<std::string>({"ValueError", "KeyboardInterrupt", "RuntimeError", "torch.OutOfMemoryError", "SystemExit", "MemoryError", "OSError", ""});
    seen.message = Text();
    seen.ended_process = Coin();
    seen.in_worker = Coin();
    seen.process = Maybe<std::int64_t>(Process());
    return seen;
  }
  Scalar MakeScalar() {
    Scalar scalar;
    scalar.series = Word();
    scalar.role = static_cast<SeriesRole>(Pick(9));
    scalar.value = Number();
    scalar.step = Maybe(Coin() ? ++step_ : Whole());
    scalar.epoch = Maybe(Number());
    Whose(scalar);
    return scalar;
  }
  TensorStats MakeStats() {
    TensorStats stats;
    stats.what = static_cast<TensorStats::What>(Pick(7));
    stats.tensor = Word();
    stats.step = Coin() ? ++step_ : Whole();
    stats.count = static_cast<std::uint64_t>(Whole());
    stats.nan_count = Pick(8);
    stats.inf_count = Pick(8);
    stats.zero_count = Pick(8);
    stats.min = Number();
    stats.max = Number();
    stats.sum = Number();
    stats.sum_squares = Number();
    stats.abs_max = Number();
    Whose(stats);
    return stats;
  }
  Sample MakeSample() {
    Sample sample;
    for (std::size_t left = Pick(4); left > 0; --left) {
      sample.readings.push_back({.subject = static_cast<SubjectId>(Pick(4)), .quantity = static_cast<Quantity>(Pick(128)), .value = Whole()});
    }
    return sample;
  }
  /// Of the schema, so that whoever reads it takes it for real.
  Observation MakeObservation() {
    const auto kinds = AllObservationKinds();
    const ObservationKind& kind = kinds[Pick(kinds.size())];
    Observation seen;
    seen.kind = std::string(kind.name);
    seen.step = Maybe(Coin() ? ++step_ : Whole());
    Whose(seen);
    for (const ObservationAttribute& attribute : kind.attributes) {
      if (Coin()) {
        seen.attributes[std::string(attribute.name)] = ValueOf(attribute.type);
      }
    }
    return seen;
  }
  Observation::Value ValueOf(ObservationType type) {
    switch (type) {
      case ObservationType::kNumber:
        return Number();
      case ObservationType::kWhole:
        return static_cast<double>(Whole());
      case ObservationType::kYes:
        return Coin() ? 1.0 : 0.0;
      case ObservationType::kText:
        break;
    }
    return Coin() ? Word() : Text();
  }

  std::string_view bytes_;
  std::int64_t time_ns_ = 0;
  std::int64_t step_ = 0;
};

/// A whole run: its start, the events, its end, each of which may be missing.
template <typename Push>
void MakeUpRun(std::string_view bytes, bool& process_gone, Push push) {
  MadeUpEvents events(bytes);
  if (events.Pick(4) > 0) {
    RunStart start;
    start.pid = 99;
    start.command = {"bash", "run.sh"};
    push(Event{RunTime(0), start});
  }
  process_gone = events.Pick(3) > 0;
  const std::optional<ChildEnd> end = events.End();
  while (!events.empty()) {
    push(events.Next());
  }
  if (process_gone) {
    push(Event{RunTime(1'000'000'000'000'000), RunEnd{.end = end, .duration = RunTime(1'000'000'000'000'000)}});
  }
}

}  // namespace whystop
