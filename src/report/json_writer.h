#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace whystop {

/// Writes JSON that any parser takes, whatever bytes a log held: text that is not UTF-8 gets U+FFFD
/// for each bad byte, and numbers that are not finite go as "NaN", "Infinity" and "-Infinity". An
/// empty key is for elements of a list.
class JsonWriter {
 public:
  /// `indent`: spaces a level; 0: all on one line.
  explicit JsonWriter(int indent = 0) : indent_(indent) {}

  void Open(std::string_view key = "") { Begin(key, '{'); }
  void Close() { End('}'); }
  void OpenList(std::string_view key = "") { Begin(key, '['); }
  void CloseList() { End(']'); }
  void Text(std::string_view key, std::string_view value);
  /// What a program, a log or a source file said: whatever may be a secret in it is hidden.
  void Said(std::string_view key, std::string_view value);
  void Texts(std::string_view key, const std::vector<std::string>& values);
  void Number(std::string_view key, std::int64_t value);
  void Number(std::string_view key, double value);
  void Flag(std::string_view key, bool value);
  void Null(std::string_view key);
  /// A value that is JSON already.
  void Raw(std::string_view key, std::string_view json);
  /// An absent value is left out.
  template <typename T>
  void Number(std::string_view key, const std::optional<T>& value) {
    if (value) {
      Number(key, *value);
    }
  }
  /// An absent value is null.
  template <typename T>
  void NumberOrNull(std::string_view key, const std::optional<T>& value) {
    if (value) {
      Number(key, *value);
    } else {
      Null(key);
    }
  }

  const std::string& text() const { return text_; }

 private:
  void Begin(std::string_view key, char bracket);
  void End(char bracket);
  void Key(std::string_view key);
  void NewLine();
  void Escape(char32_t code);
  void Quote(std::string_view text);

  int indent_;
  std::string text_;
  std::vector<bool> has_elements_;  // One a level that is open.
};

}  // namespace whystop
