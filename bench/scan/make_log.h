#pragma once

#include <cstdint>
#include <string>

namespace whystop::bench {

/// Writes a made-up training log of about `bytes` to `path`: print loops, logging, Trainer dicts,
/// tqdm with returns, Keras bars, loader lines, and now and then a line that a signature matches.
/// The same seed gives the same log.
bool MakeLog(const std::string& path, std::int64_t bytes, std::uint32_t seed);

}  // namespace whystop::bench
