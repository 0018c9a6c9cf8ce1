#include "import/csv/csv_row.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "base/parse.h"

namespace whystop {
namespace {

constexpr std::size_t kFieldsMax = 4096;

std::string_view StripTensor(std::string_view field) {
  constexpr std::string_view kTensor = "tensor(";
  if (!field.starts_with(kTensor)) {
    return field;
  }
  field.remove_prefix(kTensor.size());
  return Trim(field.substr(0, field.find_first_of(",)")));
}

/// Where the quote stands that closes the field which began before `from`; the line's end if none
/// does.
std::size_t EndOfQuoted(std::string_view line, std::size_t from) {
  for (std::size_t i = from; i < line.size(); ++i) {
    if (line[i] == '"') {
      if (i + 1 == line.size() || line[i + 1] != '"') {
        return i;
      }
      ++i;
    }
  }
  return line.size();
}

bool HasLetter(std::string_view field) {
  return std::any_of(field.begin(), field.end(), [](char letter) {
    return std::isalpha(static_cast<unsigned char>(letter)) != 0;
  });
}

}  // namespace

void SplitRow(std::string_view line, char separator, std::size_t fields_max,
              std::vector<std::string_view>& fields) {
  fields.clear();
  std::size_t at = 0;
  while (fields.size() < fields_max) {
    std::size_t end = line.find(separator, at);
    const std::size_t start = std::min(line.find_first_not_of(' ', at), line.size());
    if (start < line.size() && line[start] == '"') {
      const std::size_t close = EndOfQuoted(line, start + 1);
      fields.push_back(line.substr(start + 1, close - start - 1));
      end = line.find(separator, close);
    } else {
      fields.push_back(Trim(line.substr(at, end == std::string_view::npos ? end : end - at)));
    }
    if (end == std::string_view::npos) {
      return;
    }
    at = end + 1;
  }
}

char SniffSeparator(std::string_view header) {
  char best = '\0';
  std::ptrdiff_t best_count = 0;
  for (const char separator : {',', '\t', ';', '|'}) {
    const std::ptrdiff_t count = std::count(header.begin(), header.end(), separator);
    if (count > best_count) {
      best = separator;
      best_count = count;
    }
  }
  return best;
}

std::optional<double> FieldNumber(std::string_view field) {
  field = StripTensor(Trim(field));
  if (field.starts_with('+')) {
    field.remove_prefix(1);
  }
  if (field.ends_with('%')) {
    field.remove_suffix(1);
  }
  if (const auto number = ParseWhole<double>(field)) {
    return number;
  }
  const std::size_t comma = field.find(',');
  if (comma == std::string_view::npos || field.size() > 32) {
    return std::nullopt;
  }
  std::string with_point(field);
  with_point[comma] = '.';
  return ParseWhole<double>(with_point);
}

bool LooksLikeTable(std::string_view header, std::string_view next) {
  const char separator = SniffSeparator(header);
  std::vector<std::string_view> names;
  std::vector<std::string_view> values;
  SplitRow(header, separator, kFieldsMax, names);
  SplitRow(next, separator, kFieldsMax, values);
  if (separator == '\0' &&
      (names.size() != 1 || names[0].find_first_of(" :=") != std::string_view::npos)) {
    return false;  // A single column has a single word on top; "loss 0.3" is a log.
  }
  std::size_t name_count = 0;
  for (const std::string_view name : names) {
    if (FieldNumber(name) && HasLetter(name) == false) {
      return false;  // A number in the header: it is a row.
    }
    if (name.size() > 256 || name.find_first_of("{}") != std::string_view::npos) {
      return false;
    }
    if (name.ends_with(':')) {
      return false;  // "hidden:\t128": a setting, and more of them below.
    }
    if (std::count(name.begin(), name.end(), '(') != std::count(name.begin(), name.end(), ')')) {
      return false;  // "inputs (64, 3)": a shape that the separator cuts in two.
    }
    name_count += HasLetter(name) ? 1 : 0;
  }
  std::size_t number_count = 0;
  std::size_t filled = 0;
  for (const std::string_view value : values) {
    filled += value.empty() ? 0 : 1;
    number_count += FieldNumber(value) ? 1 : 0;
  }
  // Names nearly everywhere (a pandas index has none), a width that fits, and numbers in at least
  // half of what is filled.
  return name_count + 1 >= names.size() && name_count > 0 && values.size() <= names.size() + 1 &&
         values.size() * 2 >= names.size() && number_count > 0 && number_count * 2 >= filled;
}

}  // namespace whystop
