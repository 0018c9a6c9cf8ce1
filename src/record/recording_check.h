#pragma once

// What must hold for any bytes, used by the fuzzer and by the test that replays its findings.

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>

#include "base/check.h"
#include "base/tfrecord.h"
#include "record/message.h"

namespace whystop {

/// What was understood once comes through the writer's encoding unchanged.
inline void CheckMessage(std::string_view message) {
  const auto record = DecodeRecord(message);
  const Event* event = record ? std::get_if<Event>(&record->body) : nullptr;
  if (event == nullptr) {
    return;
  }
  const std::string once = EncodeEvent(*event);
  const auto again = DecodeRecord(once);
  WS_CHECK(again && std::holds_alternative<Event>(again->body),
           "an event that was written can be read");
  WS_CHECK(EncodeEvent(std::get<Event>(again->body)) == once, "reading and writing change nothing");
}

/// The bytes as one message, and as frames of messages.
inline void CheckRecording(std::string_view bytes) {
  CheckMessage(bytes);
  TfRecordReader frames(std::size_t{1} << 20);
  frames.Feed(bytes);
  for (TfRecord frame = frames.Next(); frame.state != TfRecord::State::kTruncated;
       frame = frames.Next()) {
    if (frame.state == TfRecord::State::kWhole) {
      CheckMessage(frame.body);
    }
  }
}

}  // namespace whystop
