#pragma once

// What must hold for any bytes as a log, used by the fuzzer and by the test that replays its
// findings.

#include <cstddef>
#include <string>
#include <string_view>

#include "base/check.h"
#include "text/event_text.h"

namespace whystop {

/// No crash, the same events however the bytes are chunked and whether shapes of lines are
/// remembered or not, and no more events than the input can justify.
inline void CheckLog(std::string_view bytes) {
  const auto whole = ReadEventLines(bytes, bytes.size() + 1, false);
  const auto byte = [bytes](std::size_t at) { return static_cast<unsigned char>(bytes[at]); };
  const std::size_t piece = bytes.empty() ? 1 : 1U + byte(0) % 31U;
  WS_CHECK(ReadEventLines(bytes, piece, false) == whole,
           "the pieces that a log comes in must not matter");
  WS_CHECK(whole.size() <= 16 + 2 * bytes.size(), "no event without a reason");
  // The same lines again, their digits turned, so that shapes come back with other numbers.
  std::string again(bytes);
  for (int round = 0; round < 3; ++round) {
    again += '\n';
    for (std::size_t at = 0; at < bytes.size(); ++at) {
      const char letter = bytes[at];
      const bool digit = letter >= '0' && letter <= '9';
      again +=
          digit ? static_cast<char>('0' + (letter - '0' + 3 * round + byte(at / 2)) % 10) : letter;
    }
  }
  WS_CHECK(ReadEventLines(again, again.size() + 1, true) ==
               ReadEventLines(again, again.size() + 1, false),
           "what is remembered of lines must not change what they mean");
}

}  // namespace whystop
