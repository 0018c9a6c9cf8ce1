#include "text/metric_line.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/parse.h"
#include "text/letters.h"
#include "text/number.h"

namespace whystop {
namespace {

constexpr std::size_t kValuesMax = 96;
constexpr std::size_t kKeyBytesMax = 64;
constexpr std::size_t kLineBytesRead = 8192;
constexpr double kEpochMax = 1e9;
constexpr std::size_t kCounterDigitsMax = 9;  // Below every limit of a counter.

bool IsDigit(char letter) { return IsOf(letter, kLetterDigit); }
bool IsLetter(char letter) { return IsOf(letter, kLetterAlpha); }
bool IsWordLetter(char letter) { return IsOf(letter, kLetterWord); }

bool EqualsLower(std::string_view text, std::string_view lower) {
  return text.size() == lower.size() &&
         std::equal(text.begin(), text.end(), lower.begin(), [](char a, char b) {
           return (a >= 'A' && a <= 'Z' ? static_cast<char>(a | 0x20) : a) == b;
         });
}

bool ContainsLower(std::string_view text, std::string_view lower) {
  for (std::size_t at = 0; at + lower.size() <= text.size(); ++at) {
    if (EqualsLower(text.substr(at, lower.size()), lower)) {
      return true;
    }
  }
  return false;
}

template <std::size_t N>
bool IsOneOf(std::string_view word, const std::array<std::string_view, N>& words) {
  return std::any_of(words.begin(), words.end(),
                     [word](std::string_view known) { return EqualsLower(word, known); });
}

constexpr std::array<std::string_view, 4> kEpochWords = {"epoch", "ep", "epochs", "epoch(train)"};
// Other words for it, which mean other things where they do not open the line.
constexpr std::array<std::string_view, 6> kPassWords = {"pass", "sweep", "round", "cycle", "generation", "gen"};
constexpr std::array<std::string_view, 13> kStepWords = {
    "batch_id", "batch_idx", "step",        "iter",        "iteration", "it",        "batch",
    "update",   "iters",     "num_updates", "global_step", "steps",     "iterations"};
constexpr std::array<std::string_view, 7> kHeldOutWords = {"val",  "valid", "validation", "eval",
                                                           "test", "dev",   "evaluation"};

std::string_view LastWord(std::string_view key) {
  const std::size_t blank = key.find_last_of(" \t/[]");
  key.remove_prefix(blank == std::string_view::npos ? 0 : blank + 1);
  while (key.starts_with('(') || key.starts_with('[')) {
    key.remove_prefix(1);
  }
  return key;
}

/// Does one of the key's words say that it is about held-out data?
bool SpeaksOfHeldOut(std::string_view key) {
  std::size_t at = 0;
  while (at < key.size()) {
    while (at < key.size() && !IsLetter(key[at])) {
      ++at;
    }
    std::size_t end = at;
    while (end < key.size() && IsLetter(key[end])) {
      ++end;
    }
    if (IsOneOf(key.substr(at, end - at), kHeldOutWords)) {
      return true;
    }
    at = end;
  }
  return false;
}

/// The name in the text before a number: the words after the last sentence, colon or quote, without
/// signs around it.
std::string_view CleanKey(std::string_view text) {
  while (!text.empty() && IsOf(text.back(), kLetterAfterKey)) {
    text.remove_suffix(1);
  }
  for (std::size_t at = text.size(); at > 1; --at) {
    if (text[at - 1] == ' ' && text[at - 2] == ':') {
      text.remove_prefix(at);
      break;
    }
  }
  // "completed (loss: 0.5)", "tot_loss[loss=0.5": the name stands inside.
  if (const std::size_t open = text.find_last_of("([");
      open != std::string_view::npos && text.find_first_of(")]", open) == std::string_view::npos) {
    text.remove_prefix(open + 1);
  }
  if (text.size() > kKeyBytesMax) {
    text.remove_prefix(text.size() - kKeyBytesMax);
    text.remove_prefix(std::min(text.find(' '), text.size()));
  }
  while (!text.empty() && IsOf(text.front(), kLetterBeforeKey)) {
    text.remove_prefix(1);
  }
  return text;
}

class Lexer {
 public:
  Lexer(std::string_view body, MetricLine& out)
      : body_(body.substr(0, kLineBytesRead)), out_(out) {}

  void Run() {
    while (at_ < body_.size() && out_.values.size() < kValuesMax) {
      const char letter = body_[at_];
      if (!IsOf(letter, kLetterMayStart | kLetterPartsKeys)) {
        ++at_;
        continue;
      }
      if (!MayStartNumber(letter)) {
        if (IsOf(letter, kLetterPartsKeys)) {
          key_start_ = at_ + 1;
        } else if (letter == '-' && at_ > 0 && body_[at_ - 1] == ' ' && at_ + 1 < body_.size() &&
                   body_[at_ + 1] == ' ') {
          key_start_ = at_ + 1;
        }
        ++at_;
        continue;
      }
      const std::optional<NumberToken> number = ReadNumber(body_.substr(at_));
      if (number) {
        TakeNumber(*number);
      } else {
        SkipToken();
      }
    }
  }

 private:
  /// A digit or sign that does not continue a word, or the first letter of nan, inf and
  /// tensor(...).
  bool MayStartNumber(char letter) const {
    const char before = at_ == 0 ? ' ' : body_[at_ - 1];
    if (IsDigit(letter)) {
      return !IsWordLetter(before) || IsGluedToEpoch();
    }
    if (letter == '-' || letter == '+' || letter == '.') {
      return !IsWordLetter(before) && at_ + 1 < body_.size() &&
             (IsDigit(body_[at_ + 1]) || IsLetter(body_[at_ + 1]) || body_[at_ + 1] == '.');
    }
    const char lower = static_cast<char>(letter | 0x20);
    return (lower == 'n' || lower == 'i' || lower == 't') &&
           (before == ' ' || before == ':' || before == '=' || before == '\'' || before == '-') &&
           IsLetter(letter);
  }

  /// "TEST in epoch24, loss = 3.4", but no "model_epoch24.pth".
  bool IsGluedToEpoch() const {
    constexpr std::size_t kSize = 5;
    if (at_ < kSize || !EqualsLower(body_.substr(at_ - kSize, kSize), "epoch") ||
        (at_ > kSize && body_[at_ - kSize - 1] != ' ' && body_[at_ - kSize - 1] != '[')) {
      return false;
    }
    const std::size_t end = std::min(body_.find_first_not_of("0123456789", at_), body_.size());
    return end == body_.size() || std::string_view(" ,:]/|\t").find(body_[end]) != std::string_view::npos;
  }

  void SkipToken() {
    if (!IsDigit(body_[at_])) {
      ++at_;
      return;
    }
    while (at_ < body_.size() && (IsWordLetter(body_[at_]) || body_[at_] == ':' ||
                                  body_[at_] == '.' || body_[at_] == '-')) {
      ++at_;
    }
    key_start_ = at_;
  }

  /// The total of "3/10", "3 / 10", "3 of 10" after the number that ends at `at`; moves `at` behind
  /// it.
  std::optional<NumberToken> ReadTotal(std::size_t& at) const {
    std::size_t next = std::min(body_.find_first_not_of(' ', at), body_.size());
    if (next < body_.size() && body_[next] == '/') {
      ++next;
    } else if (body_.substr(next).starts_with("of ") && next > at) {
      next += 3;
    } else {
      return std::nullopt;
    }
    next = std::min(body_.find_first_not_of(' ', next), body_.size());
    const std::optional<NumberToken> total =
        next < body_.size() && IsDigit(body_[next]) ? ReadNumber(body_.substr(next)) : std::nullopt;
    if (total) {
      at = next + total->size;
    }
    return total;
  }

  /// "return(avg 50) 8.6", "loss (last 100): 0.3": a count that says over how many, between the name and its value.
  bool IsOverHowMany(const NumberToken& number, std::string_view before) const {
    constexpr std::array<std::string_view, 9> kOver = {"avg", "average", "mean", "last", "over", "ma", "ema", "rolling", "moving"};
    const std::size_t open = before.rfind('(');
    if (!number.whole || !body_.substr(at_ + number.size).starts_with(')') || open == std::string_view::npos || Trim(before.substr(0, open)).empty()) {
      return false;
    }
    const std::string_view words = before.substr(open + 1);
    return IsOneOf(words.substr(0, std::min(words.find_first_of(" =:_"), words.size())), kOver);
  }

  void TakeNumber(const NumberToken& number) {
    const std::string_view before = body_.substr(key_start_, at_ - key_start_);
    if (IsOverHowMany(number, before)) {
      at_ += number.size + 1;
      return;
    }
    const std::string_view key = CleanKey(before);
    std::size_t end = at_ + number.size;
    const std::optional<NumberToken> total = number.whole ? ReadTotal(end) : std::nullopt;
    Assign(key, before, number, total, end);
    while (end < body_.size() &&
           (IsLetter(body_[end]) || body_[end] == '%' || body_[end] == '/' || body_[end] == ']' ||
            body_[end] == ')' || body_[end] == '\'' || body_[end] == '"')) {
      ++end;  // Its unit and what closes it.
    }
    at_ = end;
    key_start_ = end;
  }

  void Assign(std::string_view key, std::string_view before, const NumberToken& number,
              const std::optional<NumberToken>& total, std::size_t end) {
    const std::string_view word = LastWord(key);
    if (IsEpochKey(key, word) || IsBracketedEpoch(total, end)) {
      if (!out_.epoch && number.value >= 0 && number.value < kEpochMax) {
        out_.epoch = number.value;
        out_.fractional_epoch = !number.whole;
        out_.epochs = total ? std::optional<double>(total->value) : std::nullopt;
        out_.epoch_at = static_cast<std::uint32_t>(at_);
        out_.epochs_at = total ? static_cast<std::uint32_t>(end - total->size) : 0;
      }
      NoteValueMatters(number);
      out_.validation = out_.validation || SpeaksOfHeldOut(key);
      named_before_ = NameBefore(key, word);
      return;
    }
    const bool bare_count = key.empty() && total && IsCountPlace(end);
    if (IsBoostingRound(number, end)) {
      TakeStep(key, number, total, end);
      out_.round = true;
      return;
    }
    const bool plural =
        word.ends_with('s') && !EqualsLower(word, "num_updates") && !EqualsLower(key, "s");
    const bool named = IsOneOf(word, kStepWords) || EqualsLower(key, "s");
    const bool lone =
        plural || EqualsLower(word, "batch") || EqualsLower(word, "it");  // "batch: 32" is a size.
    if (bare_count || (named && (total || !lone || (out_.epoch && !plural)))) {
      TakeStep(key, number, total, end);
      named_before_ = NameBefore(key, word);
      return;
    }
    if (key.empty() && !named_before_.empty() && !total && IsAssigned(before)) {
      out_.values.push_back(
          {.key = named_before_, .value = number.value, .at = static_cast<std::uint32_t>(at_)});
    }
    named_before_ = {};
    if (key.empty() || total || !HasSeparator(before, key) || IsCodeOrPath(before)) {
      return;
    }
    const std::string_view whole = UnderHeading(key, before);
    out_.by_value = out_.by_value || whole != key;
    out_.values.push_back(
        {.key = whole, .value = number.value, .at = static_cast<std::uint32_t>(at_)});
  }

  /// "Training loss at step 200: 1.25", "Accuracy after epoch 3 = 0.9": the name stands before the counter, its value behind.
  static std::string_view NameBefore(std::string_view key, std::string_view word) {
    std::string_view name = Trim(key.substr(0, static_cast<std::size_t>(word.data() - key.data())));
    for (const std::string_view link : {" at", " after", " in", " for"}) {
      if (name.ends_with(link)) {
        return Trim(name.substr(0, name.size() - link.size()));
      }
    }
    return {};
  }

  static bool IsAssigned(std::string_view before) {
    const std::string_view sign = Trim(before);
    return sign == ":" || sign == "=";
  }

  /// "accuracy: train 0.71 val 0.65": what is measured stands before the names of the data.
  std::string_view UnderHeading(std::string_view key, std::string_view before) {
    const bool held_out = IsOneOf(key, kHeldOutWords);
    if (!held_out && !EqualsLower(key, "train")) {
      heading_ = Heading::kNone;
      return key;
    }
    std::string_view words = before.substr(0, static_cast<std::size_t>(key.data() - before.data()));
    words = words.substr(0, words.find_last_not_of(" ,;/(") + 1);
    if (words.ends_with(':') || words.ends_with('-')) {
      words = words.substr(0, words.find_last_not_of(" :-") + 1);
      const std::string_view word = LastWord(words);
      heading_ = EqualsLower(word, "loss")                               ? Heading::kLoss
                 : EqualsLower(word, "accuracy") || EqualsLower(word, "acc") ? Heading::kAccuracy
                                                                         : Heading::kNone;
    } else if (!words.empty()) {
      heading_ = Heading::kNone;
    }
    switch (heading_) {
      case Heading::kLoss:
        return held_out ? "val loss" : "train loss";
      case Heading::kAccuracy:
        return held_out ? "val accuracy" : "train accuracy";
      case Heading::kNone:
        break;
    }
    return key;
  }

  /// Counters have limits: a long or signed one, or one with an exponent, may be taken or not.
  void NoteValueMatters(const NumberToken& number) {
    const std::string_view text = body_.substr(at_, number.size);
    const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
    out_.by_value = out_.by_value || digits == 0 || digits > kCounterDigitsMax ||
                    text.find_first_of("eE") != std::string_view::npos;
  }

  /// "[3/40][120/782] ...": epochs, then steps, without a name.
  bool IsBracketedEpoch(const std::optional<NumberToken>& total, std::size_t end) const {
    return at_ == 1 && body_[0] == '[' && total && body_.substr(end).starts_with("][") &&
           !out_.epoch;
  }

  /// "[120]\ttrain-rmse:0.5": XGBoost's and LightGBM's rounds.
  bool IsBoostingRound(const NumberToken& number, std::size_t end) const {
    return at_ == 1 && body_[0] == '[' && number.whole && body_.substr(end).starts_with("]\t") && !out_.has_counter();
  }

  bool IsEpochKey(std::string_view key, std::string_view word) const {
    if (IsOneOf(key, kPassWords)) {
      return body_.substr(0, static_cast<std::size_t>(key.data() - body_.data())).find_first_not_of(" [(") == std::string_view::npos;
    }
    if (IsOneOf(word, kEpochWords) && !EqualsLower(word, "epochs")) {
      return !ContainsLower(key, "best") && !ContainsLower(key, "per");
    }
    return word.size() > 6 && EqualsLower(word.substr(0, 6), "epoch(");
  }

  void TakeStep(std::string_view key, const NumberToken& number,
                const std::optional<NumberToken>& total, std::size_t end) {
    out_.validation = out_.validation || SpeaksOfHeldOut(key);
    NoteValueMatters(number);
    if (out_.step || !number.whole || number.value < 0 || number.value > 9e15) {
      return;
    }
    out_.step = static_cast<std::int64_t>(number.value);
    out_.step_at = static_cast<std::uint32_t>(at_);
    if (total && total->whole && total->value < 9e15) {
      out_.steps = static_cast<std::int64_t>(total->value);
      out_.steps_at = static_cast<std::uint32_t>(end - total->size);
      const std::string_view rest = body_.substr(std::min(end, body_.size()), 64);
      out_.unnamed_count = key.empty() && !out_.epoch;
      out_.bar = key.empty() && (rest.starts_with(" [") || rest.starts_with(" \xE2\x94"));
      out_.eta = out_.bar && rest.find("ETA:") != std::string_view::npos;
      out_.in_progress = out_.bar && (out_.step != out_.steps || out_.eta);
    }
  }

  /// A count without a name is a step where the line starts with it and a bar or time follows, or
  /// behind an epoch.
  bool IsCountPlace(std::size_t end) const {
    const std::string_view rest = body_.substr(std::min(end, body_.size()));
    if (out_.epoch) {
      return true;
    }
    const bool leads = Trim(body_.substr(0, at_)).empty();
    return leads &&
           (rest.starts_with(" [=") || rest.starts_with(" [>") || rest.starts_with(" [.") ||
            rest.starts_with(" \xE2\x94") || rest.starts_with(" - "));
  }

  /// "trainer.py:105", "dict(lr_mult=0": places and configuration, no names of series.
  static bool IsCodeOrPath(std::string_view text) {
    if (std::none_of(text.begin(), text.end(),
                     [](char letter) { return IsOf(letter, kLetterSuspect); })) {
      return false;
    }
    for (const std::string_view sign : {".py", ".cc", ".cpp", "dict(", "@", "\\"}) {
      if (text.find(sign) != std::string_view::npos) {
        return true;
      }
    }
    return false;
  }

  /// A name and its number are parted by a sign, or by blanks alone if the name is one or two
  /// words.
  static bool HasSeparator(std::string_view before, std::string_view key) {
    const std::string_view gap =
        before.substr(static_cast<std::size_t>(key.data() + key.size() - before.data()));
    if (gap.find_first_of(":=") != std::string_view::npos) {
      return true;
    }
    return std::count(key.begin(), key.end(), ' ') <= 1 && !gap.empty() && gap[0] == ' ';
  }

  enum class Heading { kNone, kLoss, kAccuracy };

  std::string_view body_;
  MetricLine& out_;
  Heading heading_ = Heading::kNone;
  std::string_view named_before_;  // Of the counter that was read last.
  std::size_t at_ = 0;
  std::size_t key_start_ = 0;
};

}  // namespace

void MetricLine::Clear() {
  std::vector<MetricValue> kept = std::move(values);
  kept.clear();
  *this = MetricLine();
  values = std::move(kept);  // Its memory is used again.
}

bool ReadDarknetLine(std::string_view text, MetricLine& out) {
  std::size_t at = std::min(text.find_first_not_of(' '), text.size());
  if (at == text.size() || !IsDigit(text[at])) {
    return false;
  }
  const auto take = [&text, &at](std::string_view after) -> std::optional<NumberToken> {
    const std::optional<NumberToken> number = ReadNumber(text.substr(at));
    if (!number || !text.substr(at + number->size).starts_with(after)) {
      return std::nullopt;
    }
    at += number->size + after.size();
    return number;
  };
  const auto step = take(": ");
  if (!step || !step->whole || step->size > kCounterDigitsMax || !take(", ")) {
    return false;
  }
  const auto mean = take(" avg");
  at += text.substr(std::min(at, text.size())).starts_with(" loss") ? 5 : 0;
  at += 2;  // ", "
  const auto rate = mean && at < text.size() ? take(" rate, ") : std::nullopt;
  if (!rate) {
    return false;
  }
  out.step = static_cast<std::int64_t>(step->value);
  out.values.push_back({.key = "avg loss", .value = mean->value});
  out.values.push_back({.key = "learning rate", .value = rate->value});
  out.by_value = true;
  return true;
}

/// "250 train 6.123456", "250 val 6.1234": a step, a word and a loss, as loops after build-nanogpt write it. The digits
/// behind the point are part of the dialect: any table of results may begin with a count and a word.
bool ReadStepAndWord(std::string_view text, MetricLine& out) {
  const std::size_t blank = std::min(text.find(' '), text.size());
  const auto step = ParseWhole<std::int64_t>(text.substr(0, blank));
  if (!step || *step < 0 || blank > kCounterDigitsMax) {
    return false;
  }
  const std::string_view rest = text.substr(blank);
  const bool train = rest.starts_with(" train ");
  if (!train && !rest.starts_with(" val ")) {
    return false;
  }
  const std::size_t at = blank + (train ? 7 : 5);
  const std::string_view number = text.substr(at);
  const auto value = ParseWhole<double>(number);
  const std::size_t point = number.find('.');
  if (!value || point == std::string_view::npos || number.size() - point - 1 != (train ? 6 : 4)) {
    return false;
  }
  out.step = *step;
  out.values.push_back({.key = train ? "train loss" : "val loss", .value = *value, .at = static_cast<std::uint32_t>(at)});
  out.validation = !train;
  out.by_value = true;
  return true;
}

bool LexMetricLine(std::string_view body, MetricLine& out) {
  out.Clear();
  if (ReadDarknetLine(body, out) || ReadStepAndWord(body, out)) {
    return true;
  }
  Lexer(body, out).Run();
  return out.has_counter() || !out.values.empty();
}

}  // namespace whystop
