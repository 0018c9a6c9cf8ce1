// Any bytes as a log: no crash, the same events however the bytes are chunked and whether shapes of
// lines are remembered or not, and no more events than the input can justify.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "text/event_text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto whole = whystop::ReadEventLines(bytes, size + 1, false);
  const std::size_t piece = size == 0 ? 1 : 1 + data[0] % 31;
  WS_CHECK(whystop::ReadEventLines(bytes, piece, false) == whole,
           "the pieces that a log comes in must not matter");
  WS_CHECK(whole.size() <= 16 + 2 * size, "no event without a reason");
  // The same lines again, their digits turned, so that shapes come back with other numbers.
  std::string again(bytes);
  for (int round = 0; round < 3; ++round) {
    again += '\n';
    for (std::size_t at = 0; at < size; ++at) {
      const char letter = bytes[at];
      const bool digit = letter >= '0' && letter <= '9';
      again +=
          digit ? static_cast<char>('0' + (letter - '0' + 3 * round + data[at / 2]) % 10) : letter;
    }
  }
  WS_CHECK(whystop::ReadEventLines(again, again.size() + 1, true) ==
               whystop::ReadEventLines(again, again.size() + 1, false),
           "what is remembered of lines must not change what they mean");
  return 0;
}
