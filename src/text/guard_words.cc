#include "text/guard_words.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

namespace whystop {
namespace {

constexpr std::size_t kBytesMax = 160;  // Who gives up is brief.

constexpr std::array<std::string_view, 10> kValueWords = {"loss",      "losses", "cost",  "objective", "gradient",
                                                          "gradients", "grad",   "grads", "weights",   "parameters"};
constexpr std::array<std::string_view, 7> kLostWords = {"nan", "nans", "inf", "infinite", "infinity", "nonfinite", "diverged"};
constexpr std::array<std::string_view, 16> kVerbs = {"is",   "are",     "was",    "became",      "become", "becomes",
                                                     "turned", "went",  "goes",   "encountered", "detected", "found",
                                                     "got",  "contains", "occurred", "hit"};
constexpr std::array<std::string_view, 7> kStopStems = {"stop", "abort", "exit", "terminat", "quit", "halt", "break"};
// What is done about it instead, denied, or told of a result.
constexpr std::array<std::string_view, 20> kOtherStems = {
    "skip",  "ignor", "continu", "replac", "reset", "reload", "restor", "restart", "retry",  "retri",
    "reduc", "lower", "warn",    "no",     "not",   "if",     "final",  "best",    "without", "handl"};

template <std::size_t N>
bool Is(std::string_view word, const std::array<std::string_view, N>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// Short ones are whole words: "no", "not", "if".
template <std::size_t N>
bool HasStem(std::string_view word, const std::array<std::string_view, N>& stems) {
  return std::any_of(stems.begin(), stems.end(), [word](std::string_view stem) {
    return stem.size() <= 3 ? word == stem : word.starts_with(stem);
  });
}

}  // namespace

NanGuard ReadNanGuard(std::string_view body) {
  if (body.size() > kBytesMax || body.ends_with('?')) {
    return NanGuard::kNone;
  }
  bool value = false;
  bool lost = false;
  bool verb = false;
  bool stop = false;
  std::string word;
  for (std::size_t at = 0; at <= body.size(); ++at) {
    const char letter = at < body.size() ? body[at] : ' ';
    if (std::isalpha(static_cast<unsigned char>(letter)) != 0) {
      word.push_back(static_cast<char>(std::tolower(static_cast<unsigned char>(letter))));
      continue;
    }
    if (HasStem(word, kOtherStems)) {
      return NanGuard::kNone;
    }
    value = value || Is(word, kValueWords);
    lost = lost || Is(word, kLostWords);
    verb = verb || Is(word, kVerbs);
    stop = stop || HasStem(word, kStopStems);
    word.clear();
  }
  if (!value || !lost) {
    return NanGuard::kNone;
  }
  return stop ? NanGuard::kStopped : verb ? NanGuard::kTold : NanGuard::kNone;
}

}  // namespace whystop
