#include "text/box_table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "base/parse.h"
#include "text/number.h"

namespace whystop {
namespace {

constexpr std::size_t kRowsMax = 96;
constexpr std::size_t kNameBytesMax = 96;

// Counters of such frames, the one that counts furthest first.
constexpr std::array<std::string_view, 10> kStepNames = {
    "total_timesteps", "total timesteps", "timesteps",  "TotalEnvInteracts", "total/steps",
    "steps",           "step",            "num_steps",  "iteration",         "iterations"};
constexpr std::array<std::string_view, 3> kEpochNames = {"epoch", "Epoch", "total/epochs"};

bool IsBorder(std::string_view line) {
  return line.size() >= 8 && line.find_first_not_of("-+=") == std::string_view::npos;
}

/// "time/total_timesteps": the part behind the section.
std::string_view WithoutSection(std::string_view name) {
  const std::size_t slash = name.rfind('/');
  return slash == std::string_view::npos || slash + 1 == name.size() ? name
                                                                     : name.substr(slash + 1);
}

template <std::size_t N>
bool IsOneOf(std::string_view name, const std::array<std::string_view, N>& names) {
  return std::find(names.begin(), names.end(), name) != names.end() ||
         std::find(names.begin(), names.end(), WithoutSection(name)) != names.end();
}

bool IsBookkeeping(std::string_view name) {
  for (const std::string_view word : {"fps", "time", "episodes", "n_updates", "nupdates", "samples"}) {
    if (name.find(word) != std::string_view::npos) {
      return true;
    }
  }
  return false;
}

}  // namespace

bool BoxTable::Push(std::string_view line, bool& closed) {
  closed = false;
  const std::string_view text = Trim(line);
  if (text.empty() || (text[0] != '|' && text[0] != '-' && text[0] != '+')) {
    open_.clear();
    return false;
  }
  if (IsBorder(text)) {
    closed = !open_.empty();
    if (closed) {
      rows_ = std::exchange(open_, {});
    }
    return true;
  }
  const std::size_t middle = text.find('|', 1);
  if (text[0] != '|' || text.back() != '|' || middle == std::string_view::npos ||
      text.find('|', middle + 1) != text.size() - 1) {
    open_.clear();
    return false;
  }
  const std::string_view name = Trim(text.substr(1, middle - 1));
  const std::string_view cell = Trim(text.substr(middle + 1, text.size() - middle - 2));
  const std::optional<NumberToken> number = ReadNumber(cell);
  if (number && number->size == cell.size() && !name.empty() && name.size() <= kNameBytesMax &&
      open_.size() < kRowsMax) {
    open_.push_back({.name = std::string(name), .value = number->value});
  }
  return true;
}

void BoxTable::Read(MetricLine& out) const {
  out.Clear();
  for (const std::string_view wanted : kStepNames) {
    const auto found = std::find_if(rows_.begin(), rows_.end(), [wanted](const Row& row) {
      return row.name == wanted || WithoutSection(row.name) == wanted;
    });
    if (found != rows_.end() && found->value >= 0 && found->value < 9e15) {
      out.step = static_cast<std::int64_t>(found->value);
      break;
    }
  }
  for (const Row& row : rows_) {
    if (IsOneOf(row.name, kEpochNames) && !out.step && row.value >= 0 && row.value < 1e9 &&
        row.value == std::floor(row.value)) {
      out.epoch = row.value;
    } else if (!IsOneOf(row.name, kStepNames) && !IsOneOf(row.name, kEpochNames) &&
               !IsBookkeeping(row.name)) {
      out.values.push_back({.key = row.name, .value = row.value});
    }
  }
  out.by_value = true;
}

}  // namespace whystop
