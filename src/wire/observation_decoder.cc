#include "wire/observation_decoder.h"

#include <cmath>
#include <cstring>
#include <string>

#include "base/parse.h"
#include "wire/ring_format.h"

namespace whystop {
namespace {

constexpr std::size_t kFramesMax = 128;

/// Takes fields from the front; after the first one that is not there, everything is empty and
/// `short_` is true.
class Cursor {
 public:
  explicit Cursor(std::string_view bytes) : rest_(bytes) {}

  template <typename T>
  T Number() {
    T value{};
    const std::string_view bytes = Bytes(sizeof(T));
    if (!cut_) {
      std::memcpy(&value, bytes.data(), sizeof(T));
    }
    return value;
  }
  std::string_view Bytes(std::size_t size) {
    if (cut_ || rest_.size() < size) {
      cut_ = true;
      return {};
    }
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }
  bool cut() const { return cut_; }

 private:
  std::string_view rest_;
  bool cut_ = false;
};

std::string TextOf(const Observation& from, const char* name) {
  const std::string* text = from.Text(name);
  return text == nullptr ? std::string() : *text;
}

bool IsTrue(const Observation& from, const char* name) {
  return from.Number(name).value_or(0) != 0;
}

std::optional<std::int64_t> WholeNumber(const Observation& from, const char* name) {
  const auto value = from.Number(name);
  if (!value || !std::isfinite(*value) || std::abs(*value) > 9e15) {
    return std::nullopt;
  }
  return static_cast<std::int64_t>(*value);
}

std::string_view TakeField(std::string_view& line) {
  const std::size_t tab = line.find('\t');
  const std::string_view field = line.substr(0, tab);
  line.remove_prefix(tab == std::string_view::npos ? line.size() : tab + 1);
  return field;
}

std::vector<Frame> FramesOf(std::string_view text) {
  std::vector<Frame> frames;
  while (!text.empty() && frames.size() < kFramesMax) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    Frame frame;
    frame.file = TakeField(line);
    frame.line = ParseWhole<std::int64_t>(TakeField(line)).value_or(0);
    frame.function = TakeField(line);
    frame.users_own = TakeField(line) == "1";
    frame.source = Trim(line);
    frames.push_back(std::move(frame));
  }
  return frames;
}

ExceptionSeen ExceptionOf(const Observation& from) {
  ExceptionSeen seen;
  seen.type = TextOf(from, "type");
  seen.message = TextOf(from, "message");
  seen.first_type = TextOf(from, "first_type");
  seen.first_message = TextOf(from, "first_message");
  seen.ended_process = IsTrue(from, "ended_process");
  seen.in_worker = IsTrue(from, "in_worker");
  seen.frames = FramesOf(TextOf(from, "frames"));
  seen.rank = from.rank;
  seen.process = from.process;
  return seen;
}

SignalSeen SignalOf(const Observation& from) {
  SignalSeen seen;
  seen.signal = static_cast<int>(WholeNumber(from, "signal").value_or(0) & 0x7f);
  seen.sender_pid = WholeNumber(from, "sender_pid");
  seen.sender_uid = WholeNumber(from, "sender_uid");
  seen.sender_name = TextOf(from, "sender_name");
  seen.from_kernel = IsTrue(from, "from_kernel");
  seen.process = from.process;
  return seen;
}

}  // namespace

std::optional<int> DecodeObservation(std::string_view body, const ObservationContext& context, EventSink& out) {
  Cursor cursor(body);
  Observation seen;
  const auto step = cursor.Number<std::int64_t>();
  const auto present = cursor.Number<std::uint8_t>();
  const auto count = cursor.Number<std::uint8_t>();
  seen.kind = cursor.Bytes(cursor.Number<std::uint8_t>());
  if ((present & 1) != 0) {
    seen.step = step;
  }
  seen.rank = context.rank;
  seen.process = context.process;
  seen.training = context.training;
  for (std::size_t i = 0; i < count && i < kAttributesMax && !cursor.cut(); ++i) {
    const std::string key(cursor.Bytes(cursor.Number<std::uint8_t>()));
    const auto type = cursor.Number<std::uint8_t>();
    Observation::Value value = 0.0;
    if (type == 0) {
      value = cursor.Number<double>();
    } else {
      value = std::string(cursor.Bytes(cursor.Number<std::uint16_t>()));
    }
    if (!cursor.cut()) {
      seen.attributes[key] = value;
    }
  }
  if ((present & 2) != 0 || cursor.cut() || count > kAttributesMax) {
    out.Push({context.at, Drop{.counter = "wire.observations_cut", .count = 1}});
  }
  std::optional<int> begun;
  if (seen.kind == "training") {
    constexpr double kTrainingsMax = 1e6;
    const double number = seen.Number("number").value_or(0);
    begun = number >= 1 && number <= kTrainingsMax ? std::optional(static_cast<int>(number))
                                                   : std::nullopt;
    seen.training = begun;
  }
  if (seen.kind == "exception") {
    out.Push({context.at, ExceptionOf(seen)});
  } else if (seen.kind == "signal") {
    out.Push({context.at, SignalOf(seen)});
  } else if (!seen.kind.empty()) {
    out.Push({context.at, seen});
  }
  return begun;
}

}  // namespace whystop
