#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace whystop {

/// One value of a pickle of plain data. Values belong to their Pickle.
class PickleValue {
 public:
  using List = std::vector<const PickleValue*>;
  using Dict = std::vector<std::pair<const PickleValue*, const PickleValue*>>;
  using Held = std::variant<std::monostate, bool, std::int64_t, double, std::string, List, Dict>;

  // What is asked of a value that is something else is empty, zero or nullptr.
  const PickleValue* At(std::string_view key) const;  // Of a dict.
  const PickleValue* At(std::size_t index) const;     // Of a list or tuple.
  std::size_t size() const;     // Of a list or tuple.
  const PickleValue* OnlyOne() const;  // The value of a dict with one key.
  std::string_view Text() const;
  std::int64_t Whole() const;
  bool Yes() const;
  bool IsNone() const { return std::holds_alternative<std::monostate>(held); }

  Held held;
};

/// Reads a pickle that holds texts, numbers, lists, tuples and dicts, as PyTorch's C++ code writes
/// them. Nothing is ever executed or imported: a pickle that asks for that ends there, like one
/// that is cut.
class Pickle {
 public:
  /// nullptr: there is no whole value in these bytes.
  const PickleValue* Read(std::string_view bytes);

 private:
  PickleValue* Make(PickleValue::Held held);
  bool Apply(unsigned char code, std::string_view& rest);
  bool Gather(unsigned char code);
  bool Number(unsigned char code, std::string_view& rest);
  bool Memo(unsigned char code, std::string_view& rest);
  bool PopToMark(std::vector<PickleValue*>& items);

  std::deque<PickleValue> values_;
  std::vector<PickleValue*> stack_;
  std::vector<std::size_t> marks_;
  std::vector<PickleValue*> memo_;
};

}  // namespace whystop
