#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "import/byte_source.h"

namespace whystop {

/// One object of numbers and texts, nested objects flattened with "/": {"train": {"loss": 1}} is
/// "train/loss". Booleans are numbers 0 and 1; nulls and arrays are left out. Bounded. Rows are
/// reused without new allocations.
class JsonRow {
 public:
  struct Entry {
    std::string name;
    double value = 0;
  };
  std::span<const Entry> numbers() const { return {entries_.data(), count_}; }
  const std::vector<std::pair<std::string, std::string>>& texts() const { return texts_; }
  const double* Number(std::string_view name) const;

  void AddNumber(std::string_view name, double value);
  void AddText(std::string_view name, std::string_view text) { texts_.emplace_back(name, text); }
  void Clear();

 private:
  std::vector<Entry> entries_;  // The first `count_` are of this row.
  std::size_t count_ = 0;
  std::vector<std::pair<std::string, std::string>> texts_;
};

/// Takes what a JSON document of metrics holds, in the order of the file.
class JsonVisitor {
 public:
  virtual ~JsonVisitor() = default;
  /// An object that is an element of an array (of "log_history", say), or the top object of a line.
  virtual void OnRow(const std::string& path, const JsonRow& row) = 0;
  /// Number `index` of an array of numbers: {"loss": [1, 0.5]} gives path "loss".
  virtual void OnElement(const std::string& path, std::int64_t index, double value) = 0;
  /// Numbers and texts outside any array.
  virtual void OnFact(const std::string& path, double value) = 0;
  virtual void OnFactText(const std::string& path, std::string_view value) = 0;
};

enum class JsonEnd {
  kWhole,
  kCut,     // The text ends inside a value.
  kBroken,  // No JSON, nested too deep, or a text of more than 16 MiB.
};

/// Walks one document in bounded memory. Bare NaN and Infinity, which Python writes, are numbers.
JsonEnd WalkJson(ByteSource& source, JsonVisitor& visitor);

/// Walks the values that follow one another in `line` and calls OnRow for each object. Nothing of a
/// broken or cut value is reported. A number text ("0.43") is a number.
JsonEnd WalkJsonLine(std::string_view line, JsonVisitor& visitor);

}  // namespace whystop
