// Any bytes as a log.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "text/log_check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  whystop::CheckLog({reinterpret_cast<const char*>(data), size});
  return 0;
}
