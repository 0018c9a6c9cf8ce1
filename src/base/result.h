#pragma once

#include <string>
#include <utility>
#include <variant>

namespace whystop {

/// What an operation that failed tells the program (`code`) and the person (`what`, `hint`).
struct Error {
  enum class Code { kNotFound, kNoPermission, kBusy, kNoSpace, kCorrupt, kTooNew, kUsage, kIo };
  Code code = Code::kIo;
  std::string what;  // "recording run-7: not a directory"
  std::string hint;  // The next step, or empty.
};

/// The system's reason for a failed call, as an Error: `Cannot open 'x': Permission denied`.
Error SystemError(const std::string& what, int errno_value);

struct Ok {};

/// A value or the reason why there is none. Test before use: `if (!result) return result.error();`
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : held_(std::move(value)) {}  // NOLINT(google-explicit-constructor): return value
  Result(Error error)
      : held_(std::move(error)) {}  // NOLINT(google-explicit-constructor): return error

  explicit operator bool() const { return std::holds_alternative<T>(held_); }
  T& operator*() & { return std::get<T>(held_); }
  const T& operator*() const& { return std::get<T>(held_); }
  T&& operator*() && { return std::get<T>(std::move(held_)); }
  T* operator->() { return &std::get<T>(held_); }
  const T* operator->() const { return &std::get<T>(held_); }
  const Error& error() const { return std::get<Error>(held_); }

 private:
  std::variant<T, Error> held_;
};

using Status = Result<Ok>;

#define WS_RETURN_IF_ERROR(expression) \
  do {                                 \
    auto ws_status = (expression);     \
    if (!ws_status) {                  \
      return ws_status.error();        \
    }                                  \
  } while (false)

}  // namespace whystop
