// Hugging Face trainer_state.json.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "import/reader_check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  whystop::CheckTrainerState({reinterpret_cast<const char*>(data), size});
  return 0;
}
