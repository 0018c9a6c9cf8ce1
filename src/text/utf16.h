#pragma once

#include <string>
#include <string_view>

namespace whystop {

/// Appends the whole characters at the start of `bytes` to `out` as UTF-8 and says how many bytes
/// that took. Windows shells write such logs (`> train.log` in PowerShell).
std::size_t DecodeUtf16(std::string_view bytes, bool big_endian, std::string& out);

}  // namespace whystop
