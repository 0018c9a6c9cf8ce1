#include "import/sniff.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "base/parse.h"
#include "import/csv/csv_row.h"
#include "import/flight_recorder/flight_reader.h"
#include "import/json_walk.h"
#include "import/position_key.h"
#include "import/tensorboard/event_reader.h"
#include "import/wandb/record_cutter.h"
#include "text/series_role.h"

namespace whystop {
namespace {

/// Old spreadsheets, and csv files that passed through two conversions, end their lines with returns alone.
std::size_t EndOfLine(std::string_view text) {
  const std::size_t end = text.find('\n');
  return end == std::string_view::npos ? text.find('\r') : end;
}

std::string_view FirstLine(std::string_view text) { return text.substr(0, EndOfLine(text)); }

std::string_view AfterLine(std::string_view text) {
  const std::size_t end = EndOfLine(text);
  if (end == std::string_view::npos) {
    return {};
  }
  // Returns alone come in pairs where something had turned line feeds into returns.
  const std::size_t next = text[end] == '\r' ? text.find_first_not_of('\r', end) : end + 1;
  return text.substr(std::min(next, text.size()));
}

/// Counts what a piece of JSON holds; a cut end is no matter.
class Census final : public JsonVisitor {
 public:
  void OnRow(const std::string&, const JsonRow& row) override {
    ++rows;
    numbers += row.numbers().size();
  }
  void OnElement(const std::string&, std::int64_t, double) override { ++elements; }
  void OnFact(const std::string& path, double) override {
    const std::size_t slash = path.rfind('/');
    if (slash != std::string::npos && ParseWhole<std::int64_t>(path.substr(slash + 1))) {
      ++elements;  // A column as pandas writes it.
    }
  }
  void OnFactText(const std::string&, std::string_view) override {}
  std::size_t rows = 0;
  std::size_t numbers = 0;
  std::size_t elements = 0;
};

/// "[0]\ttrain-rmse:0.5", "[1201.11] python invoked oom-killer", "[1,0]<stdout>:": a log, though
/// the first brackets are JSON.
bool HasTextBehindBrackets(std::string_view text) {
  const std::string_view line = FirstLine(text);
  const std::size_t end = line.find(']');
  if (line.front() != '[' || end == std::string_view::npos) {
    return false;
  }
  const std::string_view rest = Trim(line.substr(end + 1));
  return !rest.empty() && rest.front() != ',' && rest.front() != ']' && rest.front() != '}';
}

FileKind SniffJson(std::string_view text) {
  if (HasTextBehindBrackets(text)) {
    return FileKind::kTextLog;
  }
  if (text.find("\"log_history\"") != std::string_view::npos &&
      text.find("\"global_step\"") != std::string_view::npos) {
    return FileKind::kTrainerState;
  }
  Census line_census;
  const JsonEnd line_end = WalkJsonLine(FirstLine(text), line_census);
  if (text.front() == '{' && line_end == JsonEnd::kWhole && line_census.rows > 0) {
    const std::string_view next = Trim(AfterLine(text));
    if (next.starts_with('{') || (next.empty() && line_census.numbers > 0)) {
      return FileKind::kJsonLines;
    }
    if (!next.empty()) {
      return FileKind::kTextLog;  // A log that begins with a printed configuration.
    }
  }
  Census census;
  MemorySource source(text);
  const JsonEnd end = WalkJson(source, census);
  const bool sound = end == JsonEnd::kWhole || end == JsonEnd::kCut;
  if (sound && (census.elements > 1 || (census.rows > 1 && census.numbers > 1))) {
    return FileKind::kJsonHistory;
  }
  if (text.front() == '{' && line_end == JsonEnd::kCut && FirstLine(text).size() == text.size()) {
    return FileKind::kJsonLines;  // One line, longer than the head or cut.
  }
  return end == JsonEnd::kBroken ? FileKind::kTextLog : FileKind::kOther;
}

/// A word and a number below it stand in many logs; a table of one column goes on with numbers.
bool GoesOnWithNumbers(std::string_view rows) {
  for (int i = 0; i < 5 && !rows.empty(); ++i, rows = AfterLine(rows)) {
    const std::string_view row = Trim(FirstLine(rows));
    if (!row.empty() && !FieldNumber(row)) {
      return false;
    }
  }
  return true;
}

bool LooksLikeTableText(std::string_view text) {
  // Comments and an empty line or two may stand on top.
  for (int i = 0; i < 4 && !text.empty(); ++i) {
    std::string_view header = Trim(FirstLine(text));
    const std::string_view rest = AfterLine(text);
    if (!header.empty() && !header.starts_with("#{")) {
      header = header.starts_with('#') ? Trim(header.substr(1)) : header;
      if (LooksLikeTable(header, Trim(FirstLine(rest))) &&
          (SniffSeparator(header) != '\0' || GoesOnWithNumbers(rest))) {
        return true;
      }
    }
    text = rest;
  }
  return false;
}

/// Judges names one by one.
class TrainingWords {
 public:
  void Take(std::string_view name) {
    const SeriesRole role = RoleOfSeries(name);
    curve_ = curve_ || role == SeriesRole::kTrainLoss || role == SeriesRole::kValidationLoss ||
             role == SeriesRole::kLossPart || role == SeriesRole::kLearningRate;
    score_ = score_ || role == SeriesRole::kTrainScore || role == SeriesRole::kValidationScore;
    const PositionKey key = PositionKeyOf(name);
    counter_ = counter_ || key == PositionKey::kStep || key == PositionKey::kEpoch;
  }
  bool found() const { return curve_ || (score_ && counter_); }

 private:
  bool curve_ = false;
  bool score_ = false;
  bool counter_ = false;
};

class JsonNames final : public JsonVisitor {
 public:
  void OnRow(const std::string&, const JsonRow& row) override {
    for (const JsonRow::Entry& entry : row.numbers()) {
      words.Take(entry.name);
    }
  }
  void OnElement(const std::string& path, std::int64_t index, double) override {
    if (index == 0) {
      words.Take(path);
    }
  }
  void OnFact(const std::string& path, double) override {
    words.Take(path.substr(0, path.rfind('/')));
  }
  void OnFactText(const std::string&, std::string_view) override {}
  TrainingWords words;
};

bool TableSpeaksOfTraining(std::string_view head) {
  TrainingWords words;
  std::vector<std::string_view> names;
  for (int i = 0; i < 4 && !head.empty(); ++i) {  // The header may stand below a comment or two.
    const std::string_view line = Trim(FirstLine(head));
    SplitRow(line.starts_with('#') ? line.substr(1) : line, SniffSeparator(line), 4096, names);
    for (const std::string_view name : names) {
      words.Take(name);
    }
    head = AfterLine(head);
  }
  return words.found();
}

}  // namespace

bool SpeaksOfTraining(FileKind kind, std::string_view head) {
  if (kind == FileKind::kTable) {
    return TableSpeaksOfTraining(head);
  }
  JsonNames names;
  if (kind == FileKind::kJsonLines) {
    for (int i = 0; i < 16 && !head.empty(); ++i) {
      static_cast<void>(WalkJsonLine(FirstLine(head), names));
      head = AfterLine(head);
    }
  } else {
    MemorySource source(head);
    static_cast<void>(WalkJson(source, names));
  }
  return names.words.found();
}

std::string_view FileKindName(FileKind kind) {
  switch (kind) {
    case FileKind::kEmpty:
      return "empty";
    case FileKind::kTextLog:
      return "log";
    case FileKind::kTensorBoard:
      return "TensorBoard events";
    case FileKind::kWandb:
      return "W&B run";
    case FileKind::kTrainerState:
      return "Hugging Face trainer state";
    case FileKind::kTable:
      return "table";
    case FileKind::kJsonLines:
      return "JSON Lines";
    case FileKind::kJsonHistory:
      return "JSON history";
    case FileKind::kFlightRecord:
      return "flight record";
    case FileKind::kOther:
      break;
  }
  return "other";
}

std::string_view CompressionOf(std::string_view head) {
  constexpr std::pair<std::string_view, std::string_view> kMagics[] = {{"\x1f\x8b", "gzip"},
                                                                       {"\x28\xb5\x2f\xfd", "zstd"},
                                                                       {"\xfd\x37zXZ", "xz"},
                                                                       {"BZh", "bzip2"},
                                                                       {"PK\x03\x04", "zip"}};
  for (const auto& [magic, name] : kMagics) {
    if (head.starts_with(magic)) {
      return name;
    }
  }
  return "";
}

FileKind SniffBytes(std::string_view head) {
  if (head.empty()) {
    return FileKind::kEmpty;
  }
  if (LooksLikeEventFile(head)) {
    return FileKind::kTensorBoard;
  }
  if (head.starts_with(RecordCutter::kMagic)) {
    return FileKind::kWandb;
  }
  if (IsFlightRecord(head)) {
    return FileKind::kFlightRecord;
  }
  if (head.starts_with("\xef\xbb\xbf")) {
    head.remove_prefix(3);
  }
  const std::string_view text = Trim(head);
  if (!text.empty() && (text.front() == '{' || text.front() == '[')) {
    return SniffJson(text);
  }
  if (LooksLikeTableText(text)) {
    return FileKind::kTable;
  }
  // Logs may hold NUL runs and wide characters; a binary file holds control bytes of all kinds.
  const auto control = std::count_if(head.begin(), head.end(), [](char byte) {
    const auto code = static_cast<unsigned char>(byte);
    return code < 32 && code != 0 && code != '\n' && code != '\r' && code != '\t' && code != 27 &&
           code != 8;
  });
  return static_cast<std::size_t>(control) * 50 > head.size() ? FileKind::kOther
                                                              : FileKind::kTextLog;
}

Result<FileKind> SniffFile(const std::string& path) {
  const auto head = ReadFile(path, kSniffBytes);
  if (!head) {
    return head.error();
  }
  return SniffBytes(*head);
}

}  // namespace whystop
