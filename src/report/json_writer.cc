#include "report/json_writer.h"

#include <fmt/format.h>

#include <cmath>

namespace whystop {
namespace {

/// Length of the UTF-8 character at the start, 0 when it is not one.
std::size_t CharacterLength(std::string_view text) {
  const auto byte = [&text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  std::size_t length = 0;
  if (lead < 0x80) {
    return 1;
  }
  if (lead >= 0xc2 && lead < 0xe0) {
    length = 2;
  } else if (lead >= 0xe0 && lead < 0xf0) {
    length = 3;
  } else if (lead >= 0xf0 && lead < 0xf5) {
    length = 4;
  }
  if (length == 0 || length > text.size()) {
    return 0;
  }
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) {
      return 0;
    }
  }
  const bool overlong = (lead == 0xe0 && byte(1) < 0xa0) || (lead == 0xf0 && byte(1) < 0x90);
  const bool surrogate = lead == 0xed && byte(1) >= 0xa0;
  const bool too_large = lead == 0xf4 && byte(1) >= 0x90;
  return overlong || surrogate || too_large ? 0 : length;
}

}  // namespace

void JsonWriter::NewLine() {
  if (indent_ > 0) {
    text_ += '\n';
    text_.append(has_elements_.size() * static_cast<std::size_t>(indent_), ' ');
  }
}

void JsonWriter::Key(std::string_view key) {
  if (!has_elements_.empty()) {
    if (has_elements_.back()) {
      text_ += ',';
    }
    has_elements_.back() = true;
    NewLine();
  }
  if (!key.empty()) {
    Quote(key);
    text_ += indent_ > 0 ? ": " : ":";
  }
}

void JsonWriter::Begin(std::string_view key, char bracket) {
  Key(key);
  text_ += bracket;
  has_elements_.push_back(false);
}

void JsonWriter::End(char bracket) {
  const bool had_elements = has_elements_.back();
  has_elements_.pop_back();
  if (had_elements) {
    NewLine();
  }
  text_ += bracket;
}

void JsonWriter::Quote(std::string_view text) {
  text_ += '"';
  while (!text.empty()) {
    const std::size_t length = CharacterLength(text);
    const char c = text.front();
    if (length == 0) {
      text_ += "\\ufffd";
    } else if (c == '"' || c == '\\') {
      text_ += {'\\', c};
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      text_ += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      text_ += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  text_ += '"';
}

void JsonWriter::Text(std::string_view key, std::string_view value) {
  Key(key);
  Quote(value);
}

void JsonWriter::Texts(std::string_view key, const std::vector<std::string>& values) {
  OpenList(key);
  for (const std::string& value : values) {
    Text("", value);
  }
  CloseList();
}

void JsonWriter::Number(std::string_view key, std::int64_t value) {
  Key(key);
  text_ += fmt::format("{}", value);
}

void JsonWriter::Number(std::string_view key, double value) {
  if (!std::isfinite(value)) {
    Text(key, std::isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity");
    return;
  }
  Key(key);
  text_ += fmt::format("{}", value);
}

void JsonWriter::Flag(std::string_view key, bool value) {
  Key(key);
  text_ += value ? "true" : "false";
}

void JsonWriter::Null(std::string_view key) {
  Key(key);
  text_ += "null";
}

}  // namespace whystop
