#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/event.h"

namespace whystop {

struct PlainLogStats {
  std::int64_t bytes = 0;
};

/// Reads a text log from `path` ("-": standard input) to its end and pushes its events, TextEnd
/// last. Streams: any size, bounded memory.
Result<PlainLogStats> ReadPlainLog(const std::string& path, EventSink& out);

/// Judges the first bytes of a file: text of some encoding (escape codes and NUL runs allowed), or
/// binary?
bool LooksLikeText(std::string_view start);

}  // namespace whystop
