#include "report/json_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/redact.h"
#include "base/shown_text.h"

namespace whystop {

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

void JsonWriter::Escape(char32_t code) {
  if (code < 0x10000) {
    text_ += fmt::format("\\u{:04x}", static_cast<unsigned>(code));
  } else {
    const unsigned above = static_cast<unsigned>(code) - 0x10000;
    text_ += fmt::format("\\u{:04x}\\u{:04x}", 0xD800 + (above >> 10), 0xDC00 + (above & 0x3FF));
  }
}

void JsonWriter::Quote(std::string_view text) {
  text_ += '"';
  while (!text.empty()) {
    const Utf8Character character = FirstCharacter(text);
    const char c = text.front();
    if (character.bytes == 0) {
      text_ += "\\ufffd";
    } else if (c == '"' || c == '\\') {
      text_ += {'\\', c};
    } else if (!ShowsAsItself(character.code)) {
      Escape(character.code);  // JSON is read at terminals too.
    } else {
      text_ += text.substr(0, character.bytes);
    }
    text.remove_prefix(std::max<std::size_t>(character.bytes, 1));
  }
  text_ += '"';
}

void JsonWriter::Text(std::string_view key, std::string_view value) {
  Key(key);
  Quote(value);
}

void JsonWriter::Said(std::string_view key, std::string_view value) {
  Text(key, RedactText(value));
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

void JsonWriter::Raw(std::string_view key, std::string_view json) {
  Key(key);
  text_ += json;
}

void JsonWriter::Null(std::string_view key) {
  Key(key);
  text_ += "null";
}

}  // namespace whystop
