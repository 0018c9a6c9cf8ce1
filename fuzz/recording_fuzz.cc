// A recording's frames and messages: any bytes must be read without a fault, and what was understood once must come
// through the writer's encoding unchanged.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/tfrecord.h"
#include "record/message.h"

namespace {

void CheckMessage(std::string_view message) {
  const auto record = whystop::DecodeRecord(message);
  if (!record) {
    return;
  }
  const auto* event = std::get_if<whystop::Event>(&record->body);
  if (event == nullptr) {
    return;
  }
  const std::string once = whystop::EncodeEvent(*event);
  const auto again = whystop::DecodeRecord(once);
  if (!again || whystop::EncodeEvent(std::get<whystop::Event>(again->body)) != once) {
    std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  CheckMessage(bytes);
  whystop::TfRecordReader frames(1 << 20);
  frames.Feed(bytes);
  for (whystop::TfRecord frame = frames.Next(); frame.state != whystop::TfRecord::State::kTruncated;
       frame = frames.Next()) {
    if (frame.state == whystop::TfRecord::State::kWhole) {
      CheckMessage(frame.body);
    }
  }
  return 0;
}
