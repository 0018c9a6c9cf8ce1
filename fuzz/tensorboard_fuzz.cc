// TensorBoard event files: raw bytes, and records behind sound checksums.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "import/reader_check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  whystop::CheckTensorBoard({reinterpret_cast<const char*>(data), size});
  return 0;
}
