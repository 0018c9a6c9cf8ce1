#include "text/column_table.h"

#include <algorithm>
#include <array>

#include "base/parse.h"
#include "text/letters.h"
#include "text/number.h"
#include "text/series_role.h"

namespace whystop {
namespace {

constexpr std::size_t kColumnsMax = 32;

std::vector<std::string_view> Words(std::string_view line) {
  std::vector<std::string_view> words;
  std::size_t at = line.find_first_not_of(" \t");
  while (at != std::string_view::npos && words.size() <= kColumnsMax) {
    const std::size_t end = std::min(line.find_first_of(" \t", at), line.size());
    words.push_back(line.substr(at, end - at));
    at = line.find_first_not_of(" \t", end);
  }
  return words;
}

std::vector<std::string_view> Fields(std::string_view line) {
  std::vector<std::string_view> fields;
  while (fields.size() <= kColumnsMax) {
    const std::size_t comma = line.find(',');
    fields.push_back(line.substr(0, comma));
    if (comma == std::string_view::npos) {
      break;
    }
    line.remove_prefix(comma + 1);
  }
  return fields;
}

bool IsName(std::string_view word) {
  return !word.empty() && (word[0] < '0' || word[0] > '9') && word[0] != '-';
}

/// "Box(P" and "mAP50-95)" lose the brackets that group them.
std::string ColumnName(std::string_view word) {
  const std::size_t open = word.find('(');
  if (open != std::string_view::npos) {
    word.remove_prefix(open + 1);
  }
  while (word.ends_with(')') || word.ends_with(':')) {
    word.remove_suffix(1);
  }
  return std::string(word);
}

void KeepNames(const std::vector<std::string_view>& words, std::vector<std::string>& out) {
  out.clear();
  for (const std::string_view word : words) {
    out.push_back(ColumnName(word));
  }
}

}  // namespace

/// ",loss,acc,val_loss,val_acc": a table that a program writes between its other lines, as pandas and csv do.
bool ColumnTable::PushCommaHeader(std::string_view text) {
  if (text.find(',') == std::string_view::npos || text.find_first_of(" :=;()[]{}'") != std::string_view::npos) {
    return false;
  }
  const std::vector<std::string_view> names = Fields(text);
  const auto is_name = [](std::string_view name) { return IsName(name) && IsOf(name[0], kLetterAlpha); };
  const auto is_figure = [](std::string_view name) {
    const SeriesRole role = RoleOfSeries(name);
    return role == SeriesRole::kTrainLoss || role == SeriesRole::kValidationLoss;
  };
  if (names.size() < 2 || names.size() > kColumnsMax || !(names[0].empty() || is_name(names[0])) ||
      !std::all_of(names.begin() + 1, names.end(), is_name) || std::none_of(names.begin(), names.end(), is_figure)) {
    return false;
  }
  comma_columns_.assign(names.begin(), names.end());
  return true;
}

/// As many numbers as there are names. The first one counts epochs, if it is named so or is the index of the table.
bool ColumnTable::ReadCommaRow(std::string_view text, MetricLine& out) const {
  const std::vector<std::string_view> fields = Fields(text);
  if (fields.size() != comma_columns_.size()) {
    return false;
  }
  for (std::size_t at = 0; at < fields.size(); ++at) {
    const std::optional<double> value = ParseWhole<double>(fields[at]);
    if (!value) {
      return false;
    }
    const std::string& name = comma_columns_[at];
    if (at == 0 && (name.empty() || name == "epoch" || name == "Epoch")) {
      out.epoch = *value;
    } else {
      out.values.push_back({.key = name, .value = *value});
    }
  }
  return true;
}

bool ColumnTable::PushHeader(std::string_view line) {
  const std::string_view text = Trim(line);
  if (PushCommaHeader(text)) {
    return true;
  }
  if ((!text.starts_with("Epoch ") && !text.starts_with("Class ") && !text.starts_with("epoch ")) ||
      (text[6] != ' ' && !IsOf(text[6], kLetterAlpha))) {
    return false;
  }
  const std::vector<std::string_view> words = Words(text);
  if (words.size() < 3 || words.size() > kColumnsMax ||
      !std::all_of(words.begin(), words.end(), IsName)) {
    return false;
  }
  if (words[0] == "epoch") {
    if (words[1] == "train_loss") {
      KeepNames(words, plain_columns_);
    }
    return words[1] == "train_loss";
  }
  if (words.size() < 4) {
    return false;
  }
  if (words[0] == "Epoch") {
    const bool loss = std::any_of(words.begin(), words.end(), [](std::string_view word) {
      return word.find("loss") != std::string_view::npos || word == "box" || word == "obj" ||
             word == "cls";
    });
    if (loss) {
      KeepNames(words, columns_);
      ++headers_;
    }
    return loss;
  }
  KeepNames(words, class_columns_);
  return true;
}

/// "3  2.310000  2.290000  0.120000  00:12": as many as there are names, a count first.
bool ColumnTable::ReadPlainRow(const std::vector<std::string_view>& words, MetricLine& out) const {
  if (plain_columns_.empty() || words.size() != plain_columns_.size()) {
    return false;
  }
  const std::optional<std::int64_t> epoch = ParseWhole<std::int64_t>(words[0]);
  if (!epoch || *epoch < 0) {
    return false;
  }
  for (std::size_t at = 1; at < words.size(); ++at) {
    if (const std::optional<double> value = ParseWhole<double>(words[at])) {
      out.values.push_back({.key = plain_columns_[at], .value = *value});
    } else if (plain_columns_[at] != "time") {
      return false;
    }
  }
  out.epoch = static_cast<double>(*epoch);
  return true;
}

/// "all 453 907 0.79 0.80 0.84 0.38". Its header belongs to a bar and may have gone to another
/// stream.
bool ColumnTable::ReadClassRow(const std::vector<std::string_view>& words, MetricLine& out) const {
  static const std::vector<std::string> kUsual = {"Class", "Images", "Instances", "P",
                                                  "R",     "mAP50",  "mAP50-95"};
  const std::vector<std::string>& names = class_columns_.empty() ? kUsual : class_columns_;
  if (words.size() != names.size()) {
    return false;
  }
  for (std::size_t at = 3; at < words.size(); ++at) {
    const std::optional<double> value = ParseWhole<double>(words[at]);
    if (!value) {
      return false;
    }
    out.values.push_back({.key = names[at], .value = *value});
  }
  out.validation = true;
  if (row_epoch_ || headers_ > 0) {
    out.epoch = row_epoch_.value_or(headers_);
  }
  return true;
}

/// YOLO's results.txt names nothing: "78/99  9.24G  0.0405  0.0229  0.0041  0.0676  296  640 ...". Both counts are from 0.
bool ColumnTable::ReadBareRow(std::string_view line, MetricLine& out) {
  static constexpr std::array<std::string_view, 15> kNames = {"",
                                                              "",
                                                              "train/box_loss",
                                                              "train/obj_loss",
                                                              "train/cls_loss",
                                                              "",
                                                              "",
                                                              "",
                                                              "metrics/precision",
                                                              "metrics/recall",
                                                              "metrics/mAP_0.5",
                                                              "metrics/mAP_0.5:0.95",
                                                              "val/box_loss",
                                                              "val/obj_loss",
                                                              "val/cls_loss"};
  const std::size_t start = line.find_first_not_of(' ');
  if (start == std::string_view::npos || !IsOf(line[start], kLetterDigit) ||
      line.find("G ", start) == std::string_view::npos) {
    return false;
  }
  const std::vector<std::string_view> words = Words(line);
  const std::size_t slash = words[0].find('/');
  if (words.size() != kNames.size() || slash == std::string_view::npos || !words[1].ends_with('G')) {
    return false;
  }
  const auto epoch = ParseWhole<std::int64_t>(words[0].substr(0, slash));
  const auto epochs = ParseWhole<std::int64_t>(words[0].substr(slash + 1));
  if (!epoch || !epochs || *epoch > *epochs) {
    return false;
  }
  out.Clear();
  for (std::size_t at = 2; at < words.size(); ++at) {
    const std::optional<double> value = ParseWhole<double>(words[at]);
    if (!value) {
      return false;
    }
    if (!kNames[at].empty()) {
      out.values.push_back({.key = kNames[at], .value = *value});
    }
  }
  out.epoch = static_cast<double>(*epoch + 1);
  out.epochs = static_cast<double>(*epochs + 1);
  return true;
}

bool ColumnTable::ReadRow(std::string_view line, MetricLine& out) {
  if (ReadBareRow(line, out)) {
    return true;
  }
  if (!comma_columns_.empty()) {
    out.Clear();
    if (ReadCommaRow(Trim(line), out)) {
      return true;
    }
  }
  if (columns_.empty() && class_columns_.empty() && plain_columns_.empty()) {
    return false;
  }
  const std::vector<std::string_view> words = Words(line);
  if (words.size() < 3 || words.size() > kColumnsMax) {
    return false;
  }
  out.Clear();
  if (ReadPlainRow(words, out)) {
    return true;
  }
  out.Clear();
  if (words.size() < 4) {
    return false;
  }
  if (words[0] == "all") {
    return ReadClassRow(words, out);
  }
  const std::size_t slash = words[0].find('/');
  if (slash == std::string_view::npos || words.size() < columns_.size() || columns_.empty()) {
    return false;
  }
  out.epoch = ParseWhole<double>(words[0].substr(0, slash));
  out.epochs = ParseWhole<double>(words[0].substr(slash + 1));
  if (!out.epoch || !out.epochs) {
    return false;
  }
  for (std::size_t at = 1; at < columns_.size(); ++at) {
    const std::optional<double> value = ParseWhole<double>(words[at]);
    const std::string& name = columns_[at];
    if (value && name != "Instances" && name != "Size" && name != "labels" && name != "img_size") {
      out.values.push_back({.key = columns_[at], .value = *value});
    }
  }
  row_epoch_ = out.epoch;
  return !out.values.empty();
}

}  // namespace whystop
