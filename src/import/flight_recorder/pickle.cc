#include "import/flight_recorder/pickle.h"

#include <algorithm>
#include <cstring>
#include <optional>

namespace whystop {
namespace {

constexpr std::size_t kValuesMax = 4 << 20;
constexpr std::size_t kMemoMax = 1 << 20;

// The codes of Python's pickletools that plain data needs.
enum Code : unsigned char {
  kMark = '(', kStop = '.', kPop = '0', kBinFloat = 'G', kBinInt = 'J', kBinInt1 = 'K', kBinInt2 = 'M', kNone = 'N',
  kBinUnicode = 'X', kAppend = 'a', kAppends = 'e', kBinGet = 'h', kLongBinGet = 'j', kBinPut = 'q', kLongBinPut = 'r',
  kSetItem = 's', kTuple = 't', kSetItems = 'u', kEmptyDict = '}', kEmptyList = ']', kEmptyTuple = ')', kProto = 0x80,
  kTuple1 = 0x85, kTuple2 = 0x86, kTuple3 = 0x87, kNewTrue = 0x88, kNewFalse = 0x89, kLong1 = 0x8a,
  kShortBinUnicode = 0x8c, kMemoize = 0x94, kFrame = 0x95,
};

/// The next bytes as a little-endian whole number without a sign; nullopt: there are not so many.
std::optional<std::uint64_t> Take(std::string_view& rest, std::size_t bytes) {
  if (rest.size() < bytes) {
    return std::nullopt;
  }
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes; ++i) {
    value |= static_cast<std::uint64_t>(static_cast<unsigned char>(rest[i])) << (8 * i);
  }
  rest.remove_prefix(bytes);
  return value;
}

/// The same number with the sign that its topmost bit gives it.
std::int64_t Signed(std::uint64_t value, std::size_t bytes) {
  const unsigned unused = static_cast<unsigned>(64 - 8 * bytes);
  return bytes == 0 ? 0 : static_cast<std::int64_t>(value << unused) >> unused;
}

}  // namespace

const PickleValue* PickleValue::At(std::string_view key) const {
  if (const auto* dict = std::get_if<Dict>(&held)) {
    for (const auto& [name, value] : *dict) {
      if (name->Text() == key) {
        return value;
      }
    }
  }
  return nullptr;
}

const PickleValue* PickleValue::At(std::size_t index) const {
  const auto* list = std::get_if<List>(&held);
  return list != nullptr && index < list->size() ? (*list)[index] : nullptr;
}

std::size_t PickleValue::size() const {
  const auto* list = std::get_if<List>(&held);
  return list == nullptr ? 0 : list->size();
}

const PickleValue* PickleValue::OnlyOne() const {
  const auto* dict = std::get_if<Dict>(&held);
  return dict != nullptr && dict->size() == 1 ? dict->front().second : nullptr;
}

std::string_view PickleValue::Text() const {
  const auto* text = std::get_if<std::string>(&held);
  return text == nullptr ? std::string_view() : *text;
}

std::int64_t PickleValue::Whole() const {
  const auto* whole = std::get_if<std::int64_t>(&held);
  return whole == nullptr ? 0 : *whole;
}

bool PickleValue::Yes() const {
  const auto* yes = std::get_if<bool>(&held);
  return yes != nullptr && *yes;
}

PickleValue* Pickle::Make(PickleValue::Held held) {
  values_.push_back({std::move(held)});
  stack_.push_back(&values_.back());
  return stack_.back();
}

bool Pickle::PopToMark(std::vector<PickleValue*>& items) {
  if (marks_.empty() || marks_.back() > stack_.size()) {
    return false;
  }
  items.assign(stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back()), stack_.end());
  stack_.resize(marks_.back());
  marks_.pop_back();
  return true;
}

/// What puts values into a list, tuple or dict.
bool Pickle::Gather(unsigned char code) {
  std::vector<PickleValue*> items;
  const std::size_t count = code == kAppend || code == kTuple1 ? 1 : code == kSetItem || code == kTuple2 ? 2
                            : code == kTuple3                                                           ? 3
                                                                                                        : 0;
  if (count == 0 ? !PopToMark(items) : stack_.size() < count) {
    return false;
  }
  if (count > 0) {
    items.assign(stack_.end() - static_cast<std::ptrdiff_t>(count), stack_.end());
    stack_.resize(stack_.size() - count);
  }
  if (code == kTuple || code == kTuple1 || code == kTuple2 || code == kTuple3) {
    Make(PickleValue::List(items.begin(), items.end()));
    return true;
  }
  if (stack_.empty()) {
    return false;
  }
  if (code == kAppend || code == kAppends) {
    auto* list = std::get_if<PickleValue::List>(&stack_.back()->held);
    if (list != nullptr) {
      list->insert(list->end(), items.begin(), items.end());
    }
    return list != nullptr;
  }
  auto* dict = std::get_if<PickleValue::Dict>(&stack_.back()->held);
  for (std::size_t i = 0; dict != nullptr && i + 1 < items.size(); i += 2) {
    dict->emplace_back(items[i], items[i + 1]);
  }
  return dict != nullptr;
}

bool Pickle::Number(unsigned char code, std::string_view& rest) {
  if (code == kBinFloat) {
    auto bits = Take(rest, 8);
    if (bits) {  // The one number that stands with its highest byte first.
      unsigned char bytes[8];
      std::memcpy(bytes, &*bits, sizeof(bytes));
      std::reverse(std::begin(bytes), std::end(bytes));
      double value = 0;
      std::memcpy(&value, bytes, sizeof(value));
      Make(value);
    }
    return bits.has_value();
  }
  std::size_t bytes = code == kBinInt ? 4 : code == kBinInt2 ? 2 : 1;
  if (code == kLong1) {
    bytes = Take(rest, 1).value_or(9);
    if (bytes > 8) {
      return false;
    }
  }
  const auto value = Take(rest, bytes);
  if (value) {
    const bool has_sign = code == kBinInt || code == kLong1;
    Make(has_sign ? Signed(*value, bytes) : static_cast<std::int64_t>(*value));
  }
  return value.has_value();
}

bool Pickle::Memo(unsigned char code, std::string_view& rest) {
  const bool is_long = code == kLongBinGet || code == kLongBinPut;
  const auto index = code == kMemoize ? std::optional<std::uint64_t>(memo_.size()) : Take(rest, is_long ? 4 : 1);
  if (!index || *index >= kMemoMax) {
    return false;
  }
  if (code == kBinGet || code == kLongBinGet) {
    if (*index >= memo_.size() || memo_[*index] == nullptr) {
      return false;
    }
    stack_.push_back(memo_[*index]);
    return true;
  }
  if (stack_.empty()) {
    return false;
  }
  memo_.resize(std::max<std::size_t>(memo_.size(), *index + 1));
  memo_[*index] = stack_.back();
  return true;
}

bool Pickle::Apply(unsigned char code, std::string_view& rest) {
  switch (code) {
    case kProto:
      return Take(rest, 1).has_value();
    case kFrame:
      return Take(rest, 8).has_value();
    case kMark:
      marks_.push_back(stack_.size());
      return true;
    case kPop:
      if (stack_.empty()) {
        return false;
      }
      stack_.pop_back();
      return true;
    case kNone:
      Make(std::monostate{});
      return true;
    case kNewTrue:
    case kNewFalse:
      Make(code == kNewTrue);
      return true;
    case kEmptyDict:
      Make(PickleValue::Dict{});
      return true;
    case kEmptyList:
    case kEmptyTuple:
      Make(PickleValue::List{});
      return true;
    case kBinUnicode:
    case kShortBinUnicode: {
      const auto size = Take(rest, code == kBinUnicode ? 4 : 1);
      if (!size || *size > rest.size()) {
        return false;
      }
      Make(std::string(rest.substr(0, *size)));
      rest.remove_prefix(*size);
      return true;
    }
    case kBinFloat:
    case kBinInt:
    case kBinInt1:
    case kBinInt2:
    case kLong1:
      return Number(code, rest);
    case kBinGet:
    case kLongBinGet:
    case kBinPut:
    case kLongBinPut:
    case kMemoize:
      return Memo(code, rest);
    case kAppend:
    case kAppends:
    case kSetItem:
    case kSetItems:
    case kTuple:
    case kTuple1:
    case kTuple2:
    case kTuple3:
      return Gather(code);
    default:
      return false;
  }
}

const PickleValue* Pickle::Read(std::string_view bytes) {
  while (!bytes.empty() && values_.size() < kValuesMax && stack_.size() < kValuesMax) {
    const auto code = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    if (code == kStop) {
      return stack_.empty() ? nullptr : stack_.back();
    }
    if (!Apply(code, bytes)) {
      return nullptr;
    }
  }
  return nullptr;
}

}  // namespace whystop
