#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/case_file.h"

namespace whystop {

/// How a level of the plan came to its end, as far as anybody saw.
enum class LevelEnd {
  kNotSeen,      // Nobody saw it end.
  kRanToItsEnd,  // It made all its turns, or what it went over had no more.
  kCondition,    // The condition of a `while` turned false.
  kLeft,         // By `break`, `return` or an exit of the program.
  kException,    // An exception went through it.
  kAskedToStop,  // Somebody set the framework's stop flag.
  kNothingToDo,  // It never made a turn.
};

/// "ran to its end", "was left by a statement"; "": nobody saw it.
std::string_view Name(LevelEnd end);

/// What one level of a training was to do and did. Planned = done + Missing().
struct LevelAccount {
  std::optional<double> planned;
  std::optional<double> done;
  LevelEnd end = LevelEnd::kNotSeen;
  std::string told_by;  // "loop", "framework", "loader", "log"; "": nothing is known.

  std::optional<double> Missing() const;
  /// Of the plan; 0: not known.
  double Share() const { return planned && done && *planned > 0 ? *done / *planned : 0; }
  /// Less was done than planned, by more than a look that came too early explains.
  bool IsShort() const;
};

/// Passes over the training data that were not gone through to their last batch, and by what.
struct CutPasses {
  std::int64_t passes = 0;      // Begun.
  std::int64_t cut = 0;         // Of these, left before their end; the last one may just have been stopped.
  double batches_planned = 0;   // Of one pass.
  double batches_done = 0;      // Of one pass, on average.
  bool shuffled = false;
  const Observation* exit = nullptr;    // The "loop-exit" of the batch loop that did it.
  const Observation* caught = nullptr;  // The "exception-caught" that did it.
};

/// What ended passes over the data before their end.
enum class CutBy {
  kNotKnown,
  kStatement,  // A `break`.
  kException,  // One that was caught: the rest of each pass was left out.
};

/// The account of the training that decides about the run: its last one, in the process that trained.
struct Account {
  LevelAccount epochs;
  LevelAccount steps;
  std::optional<CutPasses> cut_passes;

  /// Whether less was done than planned, at any level that is known.
  bool IsShort() const;
};

Account ReadAccount(const CaseFile& run);

/// A framework made all the steps that were planned, in the middle of an epoch: the steps were the limit.
bool EndedByItsStepBudget(const CaseFile& run, const Account& account);

/// As seen, or else by elimination: a batch loop over the loader has one way out, or none.
CutBy WhatCut(const CaseFile& run, const CutPasses& cut);
/// The plan of the batch loop, where it goes over what was cut; nullptr: not told.
const Observation* PlanOfBatches(const CaseFile& run, const CutPasses& cut);

/// The process whose training is judged: of several the first rank's, else the last that made steps. nullopt: no probe
/// said anything.
std::optional<std::int64_t> TrainingProcess(const CaseFile& run);

/// Whether that process trained, or had loaded a framework to do so.
bool WasToTrain(const CaseFile& run, std::int64_t process);

/// The observations of that kind by the training process, of its last training.
std::vector<const Observation*> OfTraining(const CaseFile& run, std::string_view kind);
const Observation* LastOfTraining(const CaseFile& run, std::string_view kind);

/// The framework's stop flag, set before the plan was done; nullptr: nobody asked. At the planned end the framework's own
/// flow control sets it, and that is no request.
const Observation* StopRequest(const CaseFile& run);

/// A signal by which somebody asked the program to end, which then ended by itself with less done than planned;
/// nullptr: none.
const SignalSeen* AskedToEnd(const CaseFile& run);

/// The interpreter that trained did not come to its own end, though nothing is known to have killed it: os._exit().
bool LeftWithoutCleanUp(const CaseFile& run);

constexpr double kBarelyBegun = 0.1;  // Of the plan. A choice: a plateau before learning sets in is usual.

/// By its loops, its framework or its log; 0: not known.
double ShareOfPlanDone(const CaseFile& run);

}  // namespace whystop
