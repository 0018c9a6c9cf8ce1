// A recording's frames and messages: any bytes must be read without a fault, and what was
// understood once must come through the writer's encoding unchanged.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "record/recording_check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  whystop::CheckRecording({reinterpret_cast<const char*>(data), size});
  return 0;
}
