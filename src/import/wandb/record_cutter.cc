#include "import/wandb/record_cutter.h"

#include <algorithm>

#include "base/crc32.h"
#include "base/little_endian.h"

namespace whystop {
namespace {

constexpr std::size_t kFileHeaderBytes = 7;
constexpr std::size_t kChunkHeaderBytes = 7;
constexpr std::uint8_t kNoChunk = 0;  // Zeros that a preallocating file system left.
constexpr std::uint8_t kWhole = 1;
constexpr std::uint8_t kFirst = 2;
constexpr std::uint8_t kMiddle = 3;
constexpr std::uint8_t kLast = 4;

}  // namespace

void RecordCutter::Feed(std::string_view piece) {
  while (!piece.empty()) {
    const std::size_t taken = std::min(piece.size(), kBlockBytes - block_.size());
    block_.append(piece.substr(0, taken));
    piece.remove_prefix(taken);
    if (block_.size() == kBlockBytes) {
      TakeBlock(false);
      block_.clear();
    }
  }
}

void RecordCutter::Finish() {
  TakeBlock(true);
  block_.clear();
}

void RecordCutter::TakeBlock(bool last) {
  std::string_view rest = block_;
  if (first_block_) {
    rest.remove_prefix(std::min(kFileHeaderBytes, rest.size()));
    first_block_ = false;
  }
  while (rest.size() >= kChunkHeaderBytes) {
    const auto checksum = LoadLittle<std::uint32_t>(rest);
    const auto length = LoadLittle<std::uint16_t>(rest.substr(4));
    const auto type = static_cast<std::uint8_t>(rest[6]);
    if (type == kNoChunk && length == 0) {
      return;
    }
    if (rest.size() - kChunkHeaderBytes < length) {
      bad_chunks_ += last ? 0 : 1;  // At the end of the file it is the torn tail.
      inside_ = false;
      return;
    }
    if (Crc32(rest.substr(6, 1U + length)) != checksum) {
      ++bad_chunks_;
      inside_ = false;
      return;
    }
    TakeChunk(type, rest.substr(kChunkHeaderBytes, length));
    rest.remove_prefix(kChunkHeaderBytes + length);
  }
}

void RecordCutter::TakeChunk(std::uint8_t type, std::string_view data) {
  if (type == kWhole) {
    inside_ = false;
    on_record_(data);
    return;
  }
  if (type == kFirst) {
    inside_ = true;
    too_long_ = false;
    record_.clear();
  }
  if (!inside_ || type < kFirst || type > kLast) {
    ++bad_chunks_;  // A middle or end whose beginning was lost.
    return;
  }
  if (record_.size() + data.size() > kRecordBytesMax) {
    too_long_ = true;
    record_.clear();
  }
  if (!too_long_) {
    record_.append(data);
  }
  if (type == kMiddle || type == kFirst) {
    return;
  }
  inside_ = false;
  if (too_long_) {
    ++long_records_;
    return;
  }
  on_record_(record_);
}

}  // namespace whystop
