#include "text/epilogue.h"

#include <algorithm>
#include <cmath>

#include "base/parse.h"
#include "text/closing_words.h"

namespace whystop {
namespace {

constexpr std::size_t kLinesMax = 128;
constexpr std::size_t kLineBytesMax = 256;
constexpr std::size_t kShapesMax = 4096;
constexpr std::size_t kLastLines = 12;  // Without training the end must be near the end.
constexpr std::size_t kExitLines = 4;   // Of a tracker's report; the next run of a sweep says more.
constexpr std::size_t kBriefLines = 40;  // Who says more after its last step does something else.

/// The letters of a line: figures, dates and signs may change.
std::uint64_t ShapeOf(std::string_view text) {
  std::uint64_t hash = 0xCBF29CE484222325ULL;
  for (const char letter : text.substr(0, 160)) {
    if ((letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z')) {
      hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001B3ULL;
    }
  }
  return hash;
}

/// A warning or complaint tells nothing about a loop that was left.
bool IsComplaint(std::string_view line) {
  for (const std::string_view word : {"arning", "rror", "WARN", "raceback", "ailed", "xception",
                                      "illed", "ignal", "eprecat"}) {
    if (line.find(word) != std::string_view::npos) {
      return true;
    }
  }
  return false;
}

}  // namespace

void Epilogue::PushProse(std::string_view body) {
  const std::string_view text = Trim(body);
  if (text.empty()) {
    return;
  }
  last_.assign(text.substr(0, kLineBytesMax));
  const bool known = said_.size() >= kShapesMax ? said_.contains(ShapeOf(text))
                                                : !said_.insert(ShapeOf(text)).second;
  if (lines_.size() == kLinesMax) {
    lines_.erase(lines_.begin(), lines_.begin() + kLinesMax / 2);
  }
  // An empty one stands for what was said before: it counts as a line, and says nothing.
  lines_.emplace_back(known ? std::string_view() : text.substr(0, kLineBytesMax));
}

void Epilogue::Reset() {
  lines_.clear();
  last_.clear();
  said_.clear();
}

bool Epilogue::SaysCompleted(const Standing& standing) const {
  if (standing.failed && standing.unfinished) {
    return false;  // Short of its plan after a failure: these are the words of whoever started it.
  }
  // A script that ends with its name may have done so before: several of them share a log.
  if (last_.ends_with(".py") && ReadClosingWords(last_) == Closing::kLastWord) {
    return true;
  }
  bool result = false;
  bool test = false;
  bool exit = false;
  bool other = false;
  for (std::size_t at = 0; at < lines_.size(); ++at) {
    const std::string& line = lines_[at];
    if (line.empty()) {
      continue;
    }
    switch (ReadClosingWords(line)) {
      case Closing::kEnd:
        if (standing.trained || lines_.size() - at <= kLastLines) {
          return true;
        }
        break;
      case Closing::kLastWord:
        if (at + 1 == lines_.size() && line == last_ && standing.trained) {
          return true;
        }
        break;
      case Closing::kExit:
        exit = lines_.size() - at <= kExitLines;
        break;
      case Closing::kResult:
        result = result || lines_.size() - at <= kBriefLines;
        break;
      case Closing::kTest:
        test = true;
        break;
      case Closing::kNone:
        other = other || !IsComplaint(line);
        break;
    }
  }
  if (standing.unfinished || standing.failed) {
    return false;
  }
  exit = exit && last_.starts_with("wandb:");  // Nothing else came after it.
  return exit || (standing.trained && (result || ((test || other) && standing.round && lines_.size() <= kBriefLines)));
}

bool IsRoundPlan(double count) {
  if (count < 20 || count != std::floor(count) || count > 1e15) {
    return false;
  }
  while (std::fmod(count, 10) == 0) {
    count /= 10;
  }
  return count < 10 || count == 15 || count == 25 || count == 75;
}

}  // namespace whystop
