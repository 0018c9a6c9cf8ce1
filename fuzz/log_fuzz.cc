// Any bytes as a log: no crash, the same events however the bytes are chunked, and no more events
// than the input can justify.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "text/log_reader.h"

namespace {

using whystop::Event;

/// Folds every event into one number, so that two ways of reading can be compared without keeping
/// them.
class Digest final : public whystop::EventSink {
 public:
  void Push(const Event& event) override {
    ++count;
    Mix(event.body.index());
    if (const auto* fact = event.As<whystop::LogFact>()) {
      Mix(fact->cause);
      Mix(fact->line);
      Mix(static_cast<std::uint64_t>(fact->place.line));
    } else if (const auto* exception = event.As<whystop::ExceptionSeen>()) {
      Mix(exception->type);
      Mix(exception->message);
      Mix(exception->first_message);
      Mix(exception->frames.size());
      Mix(exception->ended_process ? 1 : 0);
    } else if (const auto* scalar = event.As<whystop::Scalar>()) {
      Mix(scalar->series);
      Mix(static_cast<std::uint64_t>(scalar->place.line));
      Mix(static_cast<std::uint64_t>(scalar->step.value_or(-1)));
    } else if (const auto* end = event.As<whystop::TextEnd>()) {
      Mix(static_cast<std::uint64_t>(end->kind));
      Mix(end->last_line);
    }
  }
  std::uint64_t hash = 0xCBF29CE484222325ULL;
  std::uint64_t count = 0;

 private:
  void Mix(std::uint64_t value) { hash = (hash ^ value) * 0x100000001B3ULL; }
  void Mix(std::string_view text) {
    for (const char letter : text) {
      Mix(static_cast<unsigned char>(letter));
    }
  }
};

Digest Read(std::string_view bytes, std::size_t chunk) {
  Digest digest;
  whystop::LogReader reader("log", digest, {.text_end = true});
  for (std::size_t at = 0; at < bytes.size(); at += chunk) {
    reader.Feed(bytes.substr(at, chunk), whystop::RunTime{});
  }
  reader.Finish(whystop::RunTime{}, std::nullopt);
  return digest;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const Digest whole = Read(bytes, size + 1);
  const std::size_t chunk = size == 0 ? 1 : 1 + data[0] % 31;
  const Digest pieces = Read(bytes, chunk);
  if (whole.hash != pieces.hash || whole.count != pieces.count || whole.count > 16 + 2 * size) {
    std::abort();
  }
  return 0;
}
