#pragma once

#include <string_view>

namespace whystop {

/// What a line may say of the end of a program, in its own words.
enum class Closing {
  kNone,
  kEnd,       // "Training is done", "All 5 folds finished", "Saved final model to x".
  kLastWord,  // "Done.", "END train.py": only where nothing follows it.
  kExit,      // A tracker's report at exit. It comes after an exception as well.
  kResult,    // "Final test accuracy: 96.9", "Total time: 3 h".
  kTest,      // "Accuracy on the test set: 71 %": where nothing of the kind was said before.
};

/// A matter of words alone, whatever the numbers are. Phrases that say more (which plan was met, why it stopped) are rows
/// of the signature table; this is the language they have in common.
Closing ReadClosingWords(std::string_view body);

}  // namespace whystop
