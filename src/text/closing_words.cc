#include "text/closing_words.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <string>

#include "base/parse.h"

namespace whystop {
namespace {

constexpr std::size_t kBytesMax = 240;  // Who says that it is over is brief.
constexpr std::size_t kWordsMax = 24;
constexpr std::size_t kApartMax = 3;  // Words between "training" and "finished".

enum class Sense : std::uint8_t {
  kPlain,
  kWork,      // What comes to an end.
  kOver,      // That it did.
  kAll,       // "all epochs", "everything".
  kPart,      // A part of the work: its end is not the end.
  kBefore,    // What comes before the work, or its start.
  kNotYet,    // It is denied, planned or asked.
  kFinal,
  kModel,
  kSaved,
  kTest,
  kFigure,
  kTotal,
  kTime,
};

struct Known {
  std::string_view word;
  Sense sense;
};
constexpr std::array kKnown = std::to_array<Known>({
    {"training", Sense::kWork},     {"train", Sense::kWork},        {"trainings", Sense::kWork},
    {"fit", Sense::kWork},          {"fitting", Sense::kWork},      {"optimization", Sense::kWork},
    {"optimisation", Sense::kWork}, {"experiment", Sense::kWork},   {"experiments", Sense::kWork},
    {"job", Sense::kWork},          {"run", Sense::kWork},          {"runs", Sense::kWork},
    {"script", Sense::kWork},       {"program", Sense::kWork},      {"pipeline", Sense::kWork},
    {"search", Sense::kWork},       {"sweep", Sense::kWork},        {"study", Sense::kWork},
    {"tuning", Sense::kWork},       {"finetuning", Sense::kWork},   {"pretraining", Sense::kWork},
    {"simulation", Sense::kWork},   {"benchmark", Sense::kWork},    {"epochs", Sense::kWork},
    {"folds", Sense::kWork},        {"trials", Sense::kWork},       {"retraining", Sense::kWork},
    {"complete", Sense::kOver},     {"completed", Sense::kOver},    {"done", Sense::kOver},
    {"finished", Sense::kOver},     {"ended", Sense::kOver},        {"over", Sense::kOver},
    {"concluded", Sense::kOver},    {"succeeded", Sense::kOver},    {"successful", Sense::kOver},
    {"all", Sense::kAll},           {"everything", Sense::kAll},
    {"epoch", Sense::kPart},        {"batch", Sense::kPart},        {"step", Sense::kPart},
    {"iteration", Sense::kPart},    {"iter", Sense::kPart},         {"fold", Sense::kPart},
    {"stage", Sense::kPart},        {"phase", Sense::kPart},        {"trial", Sense::kPart},
    {"data", Sense::kBefore},         {"dataset", Sense::kBefore},      {"datasets", Sense::kBefore},
    {"loading", Sense::kBefore},      {"loaded", Sense::kBefore},       {"load", Sense::kBefore},
    {"preparing", Sense::kBefore},    {"preparation", Sense::kBefore},  {"preprocessing", Sense::kBefore},
    {"setup", Sense::kBefore},        {"split", Sense::kBefore},        {"start", Sense::kBefore},
    {"starting", Sense::kBefore},     {"started", Sense::kBefore},      {"begin", Sense::kBefore},
    {"resume", Sense::kBefore},       {"resuming", Sense::kBefore},     {"next", Sense::kBefore},
    {"now", Sense::kBefore},          {"samples", Sense::kBefore},      {"images", Sense::kBefore},
    {"warmup", Sense::kBefore},       {"compilation", Sense::kBefore},  {"initialization", Sense::kBefore},
    {"download", Sense::kBefore},     {"episode", Sense::kPart},      {"round", Sense::kPart},
    {"not", Sense::kNotYet},        {"no", Sense::kNotYet},         {"never", Sense::kNotYet},
    {"failed", Sense::kNotYet},     {"error", Sense::kNotYet},      {"errors", Sense::kNotYet},
    {"until", Sense::kNotYet},      {"when", Sense::kNotYet},       {"once", Sense::kNotYet},
    {"before", Sense::kNotYet},     {"if", Sense::kNotYet},         {"will", Sense::kNotYet},
    {"would", Sense::kNotYet},      {"should", Sense::kNotYet},     {"to", Sense::kNotYet},
    {"be", Sense::kNotYet},         {"incomplete", Sense::kNotYet}, {"yet", Sense::kNotYet},
    {"warning", Sense::kNotYet},    {"while", Sense::kNotYet},      {"can", Sense::kNotYet},
    {"final", Sense::kFinal},       {"overall", Sense::kFinal},
    {"model", Sense::kModel},       {"weights", Sense::kModel},     {"checkpoint", Sense::kModel},
    {"adapter", Sense::kModel},     {"policy", Sense::kModel},      {"network", Sense::kModel},
    {"saved", Sense::kSaved},       {"saving", Sense::kSaved},      {"written", Sense::kSaved},
    {"stored", Sense::kSaved},      {"exported", Sense::kSaved},    {"save", Sense::kSaved},
    {"test", Sense::kTest},         {"testing", Sense::kTest},      {"tested", Sense::kTest},
    {"accuracy", Sense::kFigure},   {"acc", Sense::kFigure},        {"loss", Sense::kFigure},
    {"auc", Sense::kFigure},        {"score", Sense::kFigure},
    {"scores", Sense::kFigure},     {"result", Sense::kFigure},     {"results", Sense::kFigure},
    {"metrics", Sense::kFigure},    {"performance", Sense::kFigure},{"mae", Sense::kFigure},
    {"rmse", Sense::kFigure},       {"mse", Sense::kFigure},        {"map", Sense::kFigure},
    {"bleu", Sense::kFigure},       {"reward", Sense::kFigure},     {"iou", Sense::kFigure},
    {"miou", Sense::kFigure},       {"dice", Sense::kFigure},       {"psnr", Sense::kFigure},
    {"precision", Sense::kFigure},  {"recall", Sense::kFigure},     {"perplexity", Sense::kFigure},
    {"report", Sense::kFigure},
    {"total", Sense::kTotal},       {"elapsed", Sense::kTotal},     {"wall", Sense::kTotal},
    {"time", Sense::kTime},         {"runtime", Sense::kTime},      {"duration", Sense::kTime},
});

Sense SenseOf(std::string_view word) {
  const auto found = std::find_if(kKnown.begin(), kKnown.end(),
                                  [word](const Known& known) { return known.word == word; });
  return found == kKnown.end() ? Sense::kPlain : found->sense;
}

/// The words of one sentence by their senses. Names with signs inside ("train.py", "test_acc") are taken apart.
struct Sentence {
  std::array<Sense, kWordsMax> senses{};
  std::size_t count = 0;
  std::string first;

  void Add(const std::string& word) {
    if (count == 0) {
      first = word;
    }
    if (count < kWordsMax) {
      senses[count++] = SenseOf(word);
    }
  }
  bool Has(Sense sense) const {
    return std::find(senses.begin(), senses.begin() + static_cast<std::ptrdiff_t>(count), sense) !=
           senses.begin() + static_cast<std::ptrdiff_t>(count);
  }
};

/// "Training is done", "finished all epochs": the work and its end, side by side.
bool SaysWorkIsOver(const Sentence& sentence) {
  if (sentence.Has(Sense::kBefore) || sentence.Has(Sense::kNotYet)) {
    return false;
  }
  const auto near_a_part = [&sentence](std::size_t at) {
    const std::size_t from = at > kApartMax ? at - kApartMax : 0;
    const std::size_t to = std::min(sentence.count, at + kApartMax + 1);
    return std::find(sentence.senses.begin() + static_cast<std::ptrdiff_t>(from),
                     sentence.senses.begin() + static_cast<std::ptrdiff_t>(to),
                     Sense::kPart) != sentence.senses.begin() + static_cast<std::ptrdiff_t>(to);
  };
  for (std::size_t i = 0; i < sentence.count; ++i) {
    if (sentence.senses[i] != Sense::kOver || near_a_part(i)) {
      continue;
    }
    const std::size_t from = i > kApartMax ? i - kApartMax : 0;
    const std::size_t to = std::min(sentence.count, i + kApartMax + 1);
    for (std::size_t j = from; j < to; ++j) {
      const bool all_done = sentence.senses[j] == Sense::kAll && j + 1 == i && sentence.count <= 3;
      if (sentence.senses[j] == Sense::kWork || all_done) {
        return true;
      }
    }
  }
  return false;
}

Closing Judge(const Sentence& sentence) {
  if (sentence.count == 0) {
    return Closing::kNone;
  }
  if (SaysWorkIsOver(sentence) ||
      (sentence.Has(Sense::kFinal) && sentence.Has(Sense::kModel) && sentence.Has(Sense::kSaved))) {
    return Closing::kEnd;
  }
  if (sentence.Has(Sense::kPart)) {
    return Closing::kNone;
  }
  if (sentence.Has(Sense::kFinal) && sentence.Has(Sense::kFigure)) {
    return Closing::kResult;
  }
  if (sentence.Has(Sense::kTime) && (sentence.Has(Sense::kTotal) || sentence.Has(Sense::kWork))) {
    return Closing::kResult;
  }
  return sentence.Has(Sense::kTest) && sentence.Has(Sense::kFigure) ? Closing::kTest
                                                                     : Closing::kNone;
}

/// "Done.", "** Finished **", "END predict.py", "SUCCESS".
bool IsLastWord(std::string_view body, const Sentence& sentence) {
  static constexpr std::array<std::string_view, 8> kWords = {
      "done", "finished", "end", "completed", "finish", "success", "complete", "fin"};
  if (std::find(kWords.begin(), kWords.end(), sentence.first) == kWords.end()) {
    return false;
  }
  return sentence.count == 1 || (sentence.count <= 4 && Trim(body).ends_with(".py"));
}

/// The size of a path at the start of `text`, or 0: names of folders are no words.
std::size_t PathSize(std::string_view text) {
  const std::string_view token = text.substr(0, text.find(' '));
  const auto slashes = std::count_if(token.begin(), token.end(),
                                     [](char letter) { return letter == '/' || letter == '\\'; });
  return slashes >= 2 ? token.size() : 0;
}

}  // namespace

Closing ReadClosingWords(std::string_view body) {
  if (body.size() > kBytesMax || body.size() < 3 || body.ends_with('?')) {
    return Closing::kNone;
  }
  if (body.starts_with("wandb:")) {
    return body.find("Synced ") != std::string_view::npos ||
                   body.find("Find logs at: ") != std::string_view::npos
               ? Closing::kExit
               : Closing::kNone;
  }
  Closing said = Closing::kNone;
  Sentence sentence;
  Sentence whole;
  std::string word;
  for (std::size_t at = 0; at <= body.size(); ++at) {
    if (at == 0 || body[at - 1] == ' ') {
      at += PathSize(body.substr(std::min(at, body.size())));
    }
    const char letter = at < body.size() ? body[at] : ' ';
    if (std::isalpha(static_cast<unsigned char>(letter)) != 0 || letter == '\'') {
      word.push_back(static_cast<char>(std::tolower(static_cast<unsigned char>(letter))));
      continue;
    }
    if (!word.empty()) {
      sentence.Add(word);
      whole.Add(word);
      word.clear();
    }
    const bool stop = (letter == '.' || letter == '!' || letter == ';') &&
                      (at + 1 >= body.size() || body[at + 1] == ' ');
    if (stop || at == body.size()) {
      const Closing here = Judge(sentence);
      said = said == Closing::kNone ? here : said;
      sentence = Sentence();
    }
  }
  // "Trial 12 finished. Final accuracy: 0.95": of a part, in another sentence.
  if ((said == Closing::kResult || said == Closing::kTest) && whole.Has(Sense::kPart)) {
    return Closing::kNone;
  }
  return said == Closing::kNone && IsLastWord(body, whole) ? Closing::kLastWord : said;
}

}  // namespace whystop
