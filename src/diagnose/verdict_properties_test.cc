#include "diagnose/verdict_properties.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "base/fd.h"
#include "diagnose/analysis.h"
#include "diagnose/made_up_events.h"

namespace whystop {
namespace {

/// Draws events of every kind that the account and the first answer read, with values that fit badly together.
class Generator {
 public:
  explicit Generator(std::uint64_t seed) : random_(seed) {}

  Event Next() {
    const RunTime at(++time_ * 1'000'000'000);
    switch (Pick(9)) {
      case 0:
        return {at, MakeExit()};
      case 1:
        return {at, MakeProgress()};
      case 2:
        return {at, MakeFramework()};
      case 3:
        return {at, MakeException()};
      case 4: {
        SignalSeen seen;
        seen.signal = OneOf<int>({15, 2, 1, 10, 9});
        return {at, seen};
      }
      case 5: {
        ProcessEnd ended;
        ended.pid = 100 + Pick(3);
        ended.end = Pick(2) == 0 ? ChildEnd::Exited(Pick(2)) : ChildEnd::Signaled(OneOf<int>({9, 11, 7}));
        return {at, ended};
      }
      case 6:
        return {at, MakeObservation("counts", {{"steps", Number()}, {"backwards", Number()}})};
      case 7:
        return {at, MakeObservation("passes", {{"loader", 1.0}, {"begun", Number()}, {"ended", Number()}, {"batches", Number()}, {"steps", Number()}})};
      default: {
        Scalar scalar;
        scalar.series = "loss";
        scalar.role = SeriesRole::kTrainLoss;
        scalar.value = Pick(20) == 0 ? std::nan("") : Number();
        scalar.step = time_;
        scalar.process = 100 + Pick(2);
        scalar.training = 1 + Pick(2);
        return {at, scalar};
      }
    }
  }
  int Pick(int below) { return std::uniform_int_distribution<int>(0, below - 1)(random_); }

 private:
  double Number() { return OneOf<double>({0, 1, 2, 3, 10, 11, 57, 300, 301, 5000}); }
  template <typename T>
  T OneOf(std::vector<T> values) {
    return values[static_cast<std::size_t>(Pick(static_cast<int>(values.size())))];
  }
  Observation MakeObservation(std::string kind, std::map<std::string, Observation::Value> attributes) {
    Observation seen;
    seen.kind = std::move(kind);
    seen.step = time_;
    seen.process = 100 + Pick(2);
    seen.attributes = std::move(attributes);
    return seen;
  }
  Observation MakeExit() {
    auto exit = MakeObservation(
        "loop-exit", {{"how", OneOf<std::string>({"end", "break", "return", "exception", "exit"})},
                      {"role", OneOf<std::string>({"epochs", "steps"})},
                      {"level", static_cast<double>(Pick(2))},
                      {"levels", 2.0},
                      {"line", 31.0},
                      {"file", std::string("train.py")}});
    if (Pick(3) > 0) {
      exit.attributes["turn"] = Number();
    }
    if (Pick(3) > 0) {
      exit.attributes["planned"] = Number();
    }
    if (Pick(3) == 0) {
      exit.attributes["condition"] = std::string("bad < max_bad");
      exit.attributes["meaning"] = OneOf<std::string>({"patience", "target", "not-finite"});
    }
    return exit;
  }
  Progress MakeProgress() {
    Progress progress;
    progress.epoch = Number();
    progress.step = static_cast<std::int64_t>(Number());
    if (Pick(2) == 0) {
      progress.epochs_planned = Number();
    }
    if (Pick(2) == 0) {
      progress.steps_planned = static_cast<std::int64_t>(Number());
    }
    if (Pick(2) == 0) {
      progress.process = 100;
    }
    return progress;
  }
  Observation MakeFramework() {
    const auto kind = OneOf<std::string>({"framework", "framework-end", "framework-stop"});
    return kind == "framework"       ? MakeObservation(kind, {{"name", "transformers"}, {"steps", Number()}, {"epochs", Number()}})
           : kind == "framework-end" ? MakeObservation(kind, {{"global_step", Number()}, {"steps", Number()}, {"epoch", Number()}, {"epochs", Number()}})
                                     : MakeObservation(kind, {{"who", "Callback"}, {"framework", "transformers"}});
  }
  ExceptionSeen MakeException() {
    ExceptionSeen seen;
    seen.type = OneOf<std::string>({"ValueError", "KeyboardInterrupt", "RuntimeError"});
    seen.message = OneOf<std::string>({"bad shape", "returned nan values in its 0th output", "No space left on device"});
    seen.ended_process = Pick(2) == 0;
    if (Pick(2) == 0) {
      seen.process = 100 + Pick(2);
    }
    return seen;
  }

  std::mt19937_64 random_;
  std::int64_t time_ = 0;
};

TEST(VerdictProperties, HoldForAnySequenceOfEvents) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Generator generator(seed);
    Analysis analysis;
    RunStart start;
    start.pid = 99;
    start.command = {"bash", "run.sh"};
    if (generator.Pick(4) > 0) {
      analysis.Push({RunTime(0), start});
    }
    const int events = 1 + generator.Pick(30);
    for (int i = 0; i < events; ++i) {
      analysis.Push(generator.Next());
    }
    RunEnd end;
    end.end = generator.Pick(3) == 0 ? ChildEnd::Signaled(9) : ChildEnd::Exited(generator.Pick(2));
    analysis.Push({RunTime(1'000'000'000'000), end});
    const Verdict verdict = analysis.Judge(false);
    for (const std::string& fault : Contradictions(verdict, true)) {
      ADD_FAILURE() << "seed " << seed << ": " << fault << "\n" << verdict.headline;
    }
  }
}

std::string FaultsOf(std::string_view bytes) {
  Analysis analysis;
  bool process_gone = false;
  MakeUpRun(bytes, process_gone, [&](const Event& event) { analysis.Push(event); });
  std::string faults;
  for (const std::string& fault : Contradictions(analysis.Judge(!process_gone), process_gone)) {
    faults += fault + "\n";
  }
  return faults;
}

TEST(VerdictProperties, HoldForEventsOfEveryKind) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    std::mt19937_64 random(seed);
    std::string bytes(std::uniform_int_distribution<std::size_t>(0, 600)(random), '\0');
    for (char& byte : bytes) {
      byte = static_cast<char>(random());
    }
    EXPECT_EQ(FaultsOf(bytes), "") << "seed " << seed;
  }
}

/// What the fuzzer found is not found again.
TEST(VerdictProperties, HoldForWhatTheFuzzerFound) {
  const std::filesystem::path folder = std::filesystem::path(WHYSTOP_SOURCE_DIR) / "fuzz" / "regressions" / "verdict";
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(folder, none)) {
    const auto bytes = ReadFile(entry.path().string());
    ASSERT_TRUE(bytes);
    EXPECT_EQ(FaultsOf(*bytes), "") << entry.path();
  }
}

TEST(VerdictProperties, SeesEachContradiction) {
  Verdict verdict;
  verdict.outcome = Outcome::kCompleted;
  verdict.account = {{"epochs", 10, 3, "was left by a statement"}};
  EXPECT_EQ(Contradictions(verdict, true).size(), 1u);
  verdict.account.clear();
  verdict.progress.epoch = 301;
  verdict.progress.epochs_planned = 300;
  EXPECT_EQ(Contradictions(verdict, true).size(), 1u);
  verdict.progress = {};
  verdict.ruled_out = {{"NaN", "none"}};
  VerdictCause cause;
  cause.id = "loss-nan";
  verdict.causes = {cause};
  EXPECT_EQ(Contradictions(verdict, true).size(), 1u);
  verdict.ruled_out.clear();
  verdict.outcome = Outcome::kRunning;
  EXPECT_EQ(Contradictions(verdict, true).size(), 1u);
  EXPECT_TRUE(Contradictions(verdict, false).empty());
}

}  // namespace
}  // namespace whystop
