#include "import/json_walk.h"

// RapidJSON adds to the null pointer of its empty stack before it first allocates: harmless, but
// the sanitizer objects.
#if defined(__clang__)
#pragma clang attribute push(__attribute__((no_sanitize("pointer-overflow"))), apply_to = function)
#endif
#include <rapidjson/error/error.h>
#include <rapidjson/reader.h>
#if defined(__clang__)
#pragma clang attribute pop
#endif

#include "base/parse.h"

namespace whystop {
namespace {

constexpr std::size_t kDepthMax = 64;
constexpr std::size_t kRowEntriesMax = 8192;
constexpr std::size_t kPathBytesMax = 512;
constexpr std::size_t kTextBytesMax = 1024;
constexpr std::size_t kTokenBytesMax = 16 << 20;

/// RapidJSON's idea of an input stream, over pieces. Ends the text where one token grows beyond the
/// bound.
class PieceStream {
 public:
  using Ch = char;
  explicit PieceStream(ByteSource& source) : source_(source) { Refill(); }

  char Peek() const { return at_ < piece_.size() ? piece_[at_] : '\0'; }
  char Take() {
    if (at_ >= piece_.size()) {
      return '\0';
    }
    const char taken = piece_[at_];
    ++at_;
    ++told_;
    if (at_ == piece_.size() || ++token_bytes_ > kTokenBytesMax) {
      Refill();
    }
    return taken;
  }
  std::size_t Tell() const { return told_; }
  void BeginToken() { token_bytes_ = 0; }
  bool at_end() const { return at_ >= piece_.size(); }
  bool too_long() const { return token_bytes_ > kTokenBytesMax; }

  // Only for parsing in place, which we do not do.
  char* PutBegin() { return nullptr; }
  void Put(char) {}
  void Flush() {}
  std::size_t PutEnd(char*) { return 0; }

 private:
  void Refill() {
    piece_ = too_long() ? std::string_view() : source_.Next();
    at_ = 0;
  }
  ByteSource& source_;
  std::string_view piece_;
  std::size_t at_ = 0;
  std::size_t told_ = 0;
  std::size_t token_bytes_ = 0;
};

/// RapidJSON's handler: keeps the path and gathers rows.
class Handler {
 public:
  Handler(PieceStream& stream, JsonVisitor& visitor, bool top_is_row)
      : stream_(stream), visitor_(visitor), top_is_row_(top_is_row) {}

  bool Null() { return Next(); }
  bool Bool(bool value) { return Number(value ? 1 : 0); }
  bool Int(int value) { return Digits(value); }
  bool Uint(unsigned value) { return Digits(value); }
  bool Int64(std::int64_t value) { return Digits(static_cast<double>(value)); }
  bool Uint64(std::uint64_t value) { return Digits(static_cast<double>(value)); }
  bool Double(double value) { return Digits(value); }
  bool RawNumber(const char*, rapidjson::SizeType, bool) { return false; }

  bool String(const char* text, rapidjson::SizeType size, bool) {
    const std::string_view value(text, size);
    if (InRow()) {
      if (const auto number = ParseWhole<double>(Trim(value)); number && !value.empty()) {
        return Number(*number);
      }
      if (RowHasRoom() && !InArrayOfRow()) {
        row_.AddText(RowPath(), value.substr(0, kTextBytesMax));
      }
    } else if (!InArray()) {
      visitor_.OnFactText(path_, value.substr(0, kTextBytesMax));
    }
    return Next();
  }

  bool StartObject() {
    if (levels_.size() >= kDepthMax) {
      return false;
    }
    const bool row_begins = !InRow() && (levels_.empty() ? top_is_row_ : levels_.back().array);
    if (row_begins) {
      row_level_ = levels_.size() + 1;
      row_path_bytes_ = path_.size();
      row_.Clear();
    }
    levels_.push_back({.array = false, .path_bytes = path_.size(), .index = 0});
    stream_.BeginToken();
    return true;
  }

  bool Key(const char* text, rapidjson::SizeType size, bool) {
    path_.resize(levels_.back().path_bytes);
    if (!path_.empty()) {
      path_.push_back('/');
    }
    path_.append(
        text, std::min<std::size_t>(size, kPathBytesMax - std::min(path_.size(), kPathBytesMax)));
    stream_.BeginToken();
    return true;
  }

  bool EndObject(rapidjson::SizeType) {
    path_.resize(levels_.back().path_bytes);
    if (levels_.size() == row_level_) {
      const std::string path = path_;
      row_level_ = 0;
      visitor_.OnRow(path, row_);
    }
    levels_.pop_back();
    return Next();
  }

  bool StartArray() {
    if (levels_.size() >= kDepthMax) {
      return false;
    }
    levels_.push_back({.array = true, .path_bytes = path_.size(), .index = 0});
    stream_.BeginToken();
    return true;
  }

  bool EndArray(rapidjson::SizeType) {
    path_.resize(levels_.back().path_bytes);
    levels_.pop_back();
    return Next();
  }

 private:
  struct Level {
    bool array = false;
    std::size_t path_bytes = 0;
    std::int64_t index = 0;
  };
  bool InRow() const { return row_level_ > 0; }
  bool InArray() const { return !levels_.empty() && levels_.back().array; }
  bool InArrayOfRow() const {
    for (std::size_t i = row_level_; i < levels_.size(); ++i) {
      if (levels_[i].array) {
        return true;
      }
    }
    return false;
  }
  bool RowHasRoom() const { return row_.numbers().size() + row_.texts().size() < kRowEntriesMax; }
  std::string_view RowPath() const {
    const std::string_view path = std::string_view(path_).substr(row_path_bytes_);
    return path.starts_with('/') ? path.substr(1) : path;
  }

  /// No number ends a document: one at the end of the text was cut, and may have been any other.
  bool Digits(double value) { return !stream_.at_end() && Number(value); }

  bool Number(double value) {
    if (InRow()) {
      if (RowHasRoom() && !InArrayOfRow()) {
        row_.AddNumber(RowPath(), value);
      }
    } else if (InArray()) {
      visitor_.OnElement(path_, levels_.back().index, value);
    } else if (!levels_.empty()) {
      visitor_.OnFact(path_, value);
    }
    return Next();
  }

  bool Next() {
    stream_.BeginToken();
    if (!levels_.empty()) {
      ++levels_.back().index;
    }
    return true;
  }

  PieceStream& stream_;
  JsonVisitor& visitor_;
  bool top_is_row_;
  std::string path_;
  std::vector<Level> levels_;
  std::size_t row_level_ = 0;  // Depth of the object that is the row; 0: none.
  std::size_t row_path_bytes_ = 0;
  JsonRow row_;
};

// Iterative: nesting must not cost stack.
constexpr unsigned kFlags = rapidjson::kParseNanAndInfFlag | rapidjson::kParseIterativeFlag |
                            rapidjson::kParseStopWhenDoneFlag;

JsonEnd ParseOne(PieceStream& stream, JsonVisitor& visitor, bool top_is_row) {
  Handler handler(stream, visitor, top_is_row);
  rapidjson::Reader reader;
  const rapidjson::ParseResult result = reader.Parse<kFlags>(stream, handler);
  if (!result.IsError()) {
    return JsonEnd::kWhole;
  }
  return stream.at_end() && !stream.too_long() ? JsonEnd::kCut : JsonEnd::kBroken;
}

void SkipBlank(PieceStream& stream) {
  while (!stream.at_end() &&
         (stream.Peek() == ' ' || stream.Peek() == '\t' || stream.Peek() == '\r' ||
          stream.Peek() == '\n' || stream.Peek() == ',')) {
    stream.Take();
    stream.BeginToken();
  }
}

}  // namespace

const double* JsonRow::Number(std::string_view name) const {
  for (const Entry& entry : numbers()) {
    if (entry.name == name) {
      return &entry.value;
    }
  }
  return nullptr;
}

void JsonRow::AddNumber(std::string_view name, double value) {
  if (count_ == entries_.size()) {
    entries_.emplace_back();
  }
  entries_[count_].name.assign(name);
  entries_[count_].value = value;
  ++count_;
}

void JsonRow::Clear() {
  count_ = 0;
  texts_.clear();
}

JsonEnd WalkJson(ByteSource& source, JsonVisitor& visitor) {
  PieceStream stream(source);
  SkipBlank(stream);
  return ParseOne(stream, visitor, false);
}

JsonEnd WalkJsonLine(std::string_view line, JsonVisitor& visitor) {
  MemorySource source(line, line.size() + 1);
  PieceStream stream(source);
  SkipBlank(stream);
  while (!stream.at_end()) {
    const JsonEnd end = ParseOne(stream, visitor, true);
    if (end != JsonEnd::kWhole) {
      return end;
    }
    SkipBlank(stream);
  }
  return JsonEnd::kWhole;
}

}  // namespace whystop
