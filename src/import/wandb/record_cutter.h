#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace whystop {

/// Cuts a `.wandb` file into records. Its framing is LevelDB's log: blocks of 32 KiB counted from
/// the start of the file, in them chunks of checksum u32, length u16, type u8 (whole, first,
/// middle, last) and data. The checksum is zlib's CRC-32 over type and data. After the 7-byte
/// header the first chunk follows in the same block.
///
/// A bad chunk costs the rest of its block, as there the next chunk's place is not known; the next
/// block is sound again. A record that is longer than the bound is passed over. A tail that is cut
/// at any byte is normal.
class RecordCutter {
 public:
  using OnRecord = std::function<void(std::string_view record)>;
  static constexpr std::string_view kMagic = ":W&B";

  explicit RecordCutter(OnRecord on_record) : on_record_(std::move(on_record)) {
    block_.reserve(kBlockBytes);
  }

  void Feed(std::string_view piece);
  /// Takes the last block, which is not full.
  void Finish();

  std::int64_t bad_chunks() const { return bad_chunks_; }
  std::int64_t long_records() const { return long_records_; }

 private:
  static constexpr std::size_t kBlockBytes = 32768;
  static constexpr std::size_t kRecordBytesMax = 16 << 20;

  void TakeBlock(bool last);
  void TakeChunk(std::uint8_t type, std::string_view data);

  OnRecord on_record_;
  std::string block_;
  bool first_block_ = true;
  std::string record_;  // Parts of a record so far.
  bool inside_ = false;
  bool too_long_ = false;
  std::int64_t bad_chunks_ = 0;
  std::int64_t long_records_ = 0;
};

}  // namespace whystop
