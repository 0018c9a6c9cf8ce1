#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace whystop {

/// What a program said after its last step of training, and had not said in between: a program that has left its loop
/// speaks of other things than in it. Bounded in memory; the words are weighed once, at the end.
class Epilogue {
 public:
  /// How far training is, where the caller knows it.
  struct Standing {
    bool trained = false;     // More than a few steps or epochs were seen.
    bool unfinished = false;  // A counter or bar stands short of its plan.
    bool round = false;       // It stands at a number that people plan: 100 epochs, 80,000 steps.
    bool failed = false;      // Something spoke of a failure, survived or not.
  };

  /// A line that moved nothing on.
  void PushProse(std::string_view body);
  /// Training moved on: what was said meanwhile belongs to the loop.
  void TrainingMoved() { Forget(); }
  /// What was said before a failure says nothing about the end.
  void NoteFailure() { Forget(); }
  void Reset();

  /// The words of this epilogue say that the program came to its end.
  bool SaysCompleted(const Standing& standing) const;

 private:
  void Forget() {
    lines_.clear();
    last_.clear();
  }

  std::string last_;  // The last line of prose, new or not.
  std::vector<std::string> lines_;  // Of shapes that were new when they came, oldest first.
  std::unordered_set<std::uint64_t> said_;  // Shapes of this run's prose.
};

/// A number of epochs or steps that people plan: one digit and noughts, or 15, 25 and 75 of them.
bool IsRoundPlan(double count);

}  // namespace whystop
