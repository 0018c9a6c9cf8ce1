#include "text/signature_matcher.h"

#include <re2/re2.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <numeric>
#include <utility>

#include "base/parse.h"

namespace whystop {
namespace {

constexpr std::size_t kLiteralBytesMin = 7;  // Has a word at every alignment.
constexpr unsigned kBitmapBits =
    18;  // 32 KiB: fits a first-level cache, and few words fall on another by chance.

// What ordinary logs are made of. A word of this would fire on every other line.
constexpr std::string_view kOrdinaryText =
    "Epoch 1/100 epoch: 12 step 100/1000 loss: 0.1234 - accuracy: 0.9876 - val_loss: 0.2345 - "
    "val_accuracy: 0.8765 "
    "{'loss': 1.2345, 'grad_norm': 0.1234, 'learning_rate': 1.234e-05, 'epoch': 0.12} "
    "100%|##########| 12/34 "
    "[00:12<00:34, 1.23it/s] [2024-10-18 16:53:10,903] [INFO] [train.py:123:main] iteration "
    "samples batch training "
    "Training time: memory data_time: lr: eta: INFO - WARNING - DEBUG - UserWarning: "
    "warnings.warn( File \"/home/user/"
    "lib/python3.10/site-packages/torch/nn/modules/module.py\", line 1747, in forward return self. "
    "rank0 model "
    "optimizer checkpoint saved to Saving validation worker process worker data loader loaded "
    "images seconds sec "
    "Loading dataset tokens tensor shape device cuda: test train_loss eval_loss with from for in "
    "of "
    "the The and to is are was that this not can will be by on at as an or it has have been after "
    "before using used use "
    "number num_ number of max min mean average total version default value values weight weights "
    "type types name names "
    "config dict True False None list size Size index input output outputs inputs function method "
    "class layer layers "
    "path file files line lines time times wait waiting queue memory allocated GPU CPU process "
    "processes rank ranks node "
    "running Running run runs started finished done next previous current first last best better "
    "result results score "
    "back backward forward gradient gradients overflow update updates setting set get expected "
    "expert exception call "
    "calls called torch.Size([ torch. tensorflow keras numpy transformers attention hidden "
    "embedding expected found "
    "server client host address port job jobs task tasks step_ steps: loss= lr= 1, 2, 3, 28, 15: "
    "116 image images "
    "reading writing written read write checking checked passed failed: ed: ing: ion: ted: ned: 0, "
    "s ge: er: es: "
    "memory: 17246, samples: - critic/ - actor/ - accuracy: | loss | ppl     (MB):    GiB    100   "
    " 0.0    - ETA: 0s - 1s "
    "queue holds waiting for worker with samples from shard loader ";

std::uint32_t LoadWord(const char* at) {
  std::uint32_t word = 0;
  std::memcpy(&word, at, sizeof word);
  return word;
}

constexpr unsigned kCoarseBits = 12;
std::uint32_t CoarseSlot(std::uint32_t word) { return word * 0x85EBCA6BU >> (32 - kCoarseBits); }
std::uint32_t Slot(std::uint32_t word) { return word * 0x9E3779B1U >> (32 - kBitmapBits); }

/// How often each word of four bytes stands in ordinary logs.
const std::unordered_map<std::uint32_t, int>& OrdinaryWords() {
  static const std::unordered_map<std::uint32_t, int> words = [] {
    std::unordered_map<std::uint32_t, int> all;
    for (std::size_t at = 0; at + 4 <= kOrdinaryText.size(); ++at) {
      ++all[LoadWord(kOrdinaryText.data() + at)];
    }
    return all;
  }();
  return words;
}

/// Lower-case letters and blanks make up most of a log; other characters make a word rare.
int Plainness(std::string_view word) {
  return static_cast<int>(std::count_if(word.begin(), word.end(), [](char letter) {
    return letter == ' ' ||
           std::string_view("etaoinsrlds0123").find(letter) != std::string_view::npos;
  }));
}

int CostOf(std::string_view word) {
  const auto found = OrdinaryWords().find(LoadWord(word.data()));
  return (found == OrdinaryWords().end() ? 0 : 100 * found->second) + Plainness(word);
}

/// The rarest of the words at `first`, `first` + 4, ...
std::size_t RarestWordAt(std::string_view literal, std::size_t first) {
  std::size_t best = first;
  for (std::size_t at = first; at + 4 <= literal.size(); at += 4) {
    if (CostOf(literal.substr(at, 4)) < CostOf(literal.substr(best, 4))) {
      best = at;
    }
  }
  return best;
}

}  // namespace

struct SignatureMatcher::Entry {
  explicit Entry(const Signature& row) : signature(row), literal(RequiredLiteral(row)) {}

  /// Compiled when first needed: most runs meet a handful of the patterns.
  const re2::RE2& Regex() {
    std::call_once(compiled, [this] {
      regex = std::make_unique<re2::RE2>(
          re2::StringPiece(signature.pattern.data(), signature.pattern.size()), re2::RE2::Quiet);
    });
    return *regex;
  }

  Signature signature;
  std::string literal;
  std::once_flag compiled;
  std::unique_ptr<re2::RE2> regex;
};

SignatureMatcher::SignatureMatcher(std::span<const Signature> signatures)
    : bitmap_((1U << kBitmapBits) / 64) {
  for (const Signature& signature : signatures) {
    const std::size_t index = entries_.size();
    entries_.push_back(std::make_unique<Entry>(signature));
    if (signature.kind == Signature::Kind::kWholeLine) {
      whole_lines_.emplace(entries_[index]->signature.pattern, static_cast<std::uint32_t>(index));
      whole_line_bytes_max_ = std::max(whole_line_bytes_max_, signature.pattern.size());
    } else {
      AddWords(index, entries_[index]->literal);
    }
  }
  SortWords();
}

SignatureMatcher::~SignatureMatcher() = default;

/// Wherever the literal stands, one of its four ways to lie over multiples of four is the case; for
/// each of them one word is enough to find it.
void SignatureMatcher::AddWords(std::size_t index, std::string_view literal) {
  if (literal.size() < kLiteralBytesMin) {
    unfiltered_.push_back(static_cast<std::uint32_t>(index));
    return;
  }
  for (std::size_t first = 0; first < 4; ++first) {
    const std::size_t at = RarestWordAt(literal, first);
    const std::uint32_t word = LoadWord(literal.data() + at);
    const std::uint32_t slot = Slot(word);
    bitmap_[slot / 64] |= std::uint64_t{1} << slot % 64;
    words_.push_back({.word = word,
                      .first = LoadWord(literal.data()),
                      .index = static_cast<std::uint32_t>(index),
                      .offset = static_cast<std::uint32_t>(at)});
  }
}

void SignatureMatcher::SortWords() {
  std::sort(words_.begin(), words_.end(), [](const Word& a, const Word& b) {
    return std::pair(CoarseSlot(a.word), a.word) < std::pair(CoarseSlot(b.word), b.word);
  });
  starts_.assign((1U << kCoarseBits) + 1, 0);
  for (const Word& word : words_) {
    ++starts_[CoarseSlot(word.word) + 1];
  }
  std::partial_sum(starts_.begin(), starts_.end(), starts_.begin());
}

std::span<const SignatureMatcher::Word> SignatureMatcher::WordsAt(const char* at) const {
  const std::uint32_t word = LoadWord(at);
  const std::uint32_t slot = CoarseSlot(word);
  std::size_t from = starts_[slot];
  const std::size_t end = starts_[slot + 1];
  while (from < end && words_[from].word != word) {
    ++from;
  }
  std::size_t to = from;
  while (to < end && words_[to].word == word) {
    ++to;
  }
  return {words_.data() + from, to - from};
}

bool SignatureMatcher::StandsAt(const Word& word, std::string_view text, std::size_t at) const {
  if (at < word.offset || LoadWord(text.data() + at - word.offset) != word.first) {
    return false;
  }
  const std::string& literal = entries_[word.index]->literal;
  return text.size() - (at - word.offset) >= literal.size() &&
         std::memcmp(text.data() + at - word.offset, literal.data(), literal.size()) == 0;
}

bool SignatureMatcher::IsCandidate(std::string_view text, std::size_t at) const {
  for (const Word& word : WordsAt(text.data() + at)) {
    if (StandsAt(word, text, at)) {
      return true;
    }
  }
  return false;
}

std::size_t SignatureMatcher::NextCandidate(std::string_view text, std::size_t from) const {
  const std::uint64_t* bits = bitmap_.data();
  const auto bit = [bits](const char* at) {
    const std::uint32_t slot = Slot(LoadWord(at));
    return bits[slot / 64] >> slot % 64;  // In the lowest place; the others are to be ignored.
  };
  std::size_t at = (from + 3) & ~std::size_t{3};
  // Four words with one branch: nearly all of a log is none of our business.
  for (; at + 16 <= text.size(); at += 16) {
    const char* here = text.data() + at;
    const std::uint64_t any = bit(here) | bit(here + 4) | bit(here + 8) | bit(here + 12);
    if ((any & 1) == 0) {
      continue;
    }
    for (std::size_t found = at; found < at + 16; found += 4) {
      if ((bit(text.data() + found) & 1) != 0 && IsCandidate(text, found)) {
        return found;
      }
    }
  }
  for (; at + 4 <= text.size(); at += 4) {
    if ((bit(text.data() + at) & 1) != 0 && IsCandidate(text, at)) {
      return at;
    }
  }
  return std::string_view::npos;
}

bool SignatureMatcher::MayMatch(std::string_view text) const {
  return !unfiltered_.empty() || NextCandidate(text, 0) != std::string_view::npos;
}

std::vector<SignatureMatcher::Match> SignatureMatcher::MatchLine(std::string_view line) const {
  std::vector<Match> out;
  if (line.size() <= whole_line_bytes_max_ + 8) {
    const auto found = whole_lines_.find(Trim(line));
    if (found != whole_lines_.end()) {
      out.push_back({.signature = &entries_[found->second]->signature, .captures = {}});
    }
  }
  std::size_t first = NextCandidate(line, 0);
  if (first == std::string_view::npos && unfiltered_.empty()) {
    return out;
  }
  std::vector<std::uint32_t> tried = unfiltered_;
  for (std::size_t at = first; at != std::string_view::npos; at = NextCandidate(line, at + 1)) {
    for (const Word& word : WordsAt(line.data() + at)) {
      if (StandsAt(word, line, at)) {
        tried.push_back(word.index);
      }
    }
  }
  std::sort(tried.begin(), tried.end());
  tried.erase(std::unique(tried.begin(), tried.end()), tried.end());
  for (const std::uint32_t index : tried) {
    Verify(index, line, out);
  }
  return out;
}

void SignatureMatcher::Verify(std::size_t index, std::string_view line,
                              std::vector<Match>& out) const {
  Entry& entry = *entries_[index];
  Match match{.signature = &entry.signature, .captures = {}};
  if (entry.signature.kind == Signature::Kind::kRegex) {
    const re2::RE2& regex = entry.Regex();
    const int groups = regex.ok() ? regex.NumberOfCapturingGroups() : -1;
    std::vector<re2::StringPiece> found(static_cast<std::size_t>(groups + 1));
    const re2::StringPiece text(line.data(), line.size());
    if (groups < 0 ||
        !regex.Match(text, 0, line.size(), re2::RE2::UNANCHORED, found.data(), groups + 1)) {
      return;
    }
    for (std::size_t group = 1; group < found.size(); ++group) {
      match.captures.emplace_back(found[group].data() == nullptr ? "" : found[group].as_string());
    }
  }
  out.push_back(std::move(match));
}

const SignatureMatcher& SignatureMatcher::Shared() {
  static const SignatureMatcher matcher(AllSignatures());
  return matcher;
}

}  // namespace whystop
