#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace whystop {

/// A frame: length u64, masked CRC-32C of the length, body, masked CRC-32C of the body.
/// TensorBoard's event files and our recordings are sequences of these.
constexpr std::size_t kTfRecordHeaderBytes = 12;
constexpr std::size_t kTfRecordFooterBytes = 4;

/// Appends one frame around `body`.
void AppendTfRecord(std::string& out, std::string_view body);

struct TfRecord {
  enum class State {
    kWhole,      // `body` is sound.
    kTruncated,  // Not all there yet: feed more and call again, or call it a torn tail when there
                 // is no more.
    kBadLength,  // The length's checksum is wrong. The next call looks for the next sound header
                 // behind it.
    kBadBody,    // The frame is whole but its body's checksum is wrong; `body` is empty.
    kTooLong,    // Sound, but longer than the limit; `body` is empty.
  };
  State state = State::kTruncated;
  std::string_view body;     // Valid until the next call of Next or Feed.
  std::uint64_t offset = 0;  // Of the frame's first byte, counted from the first byte fed.
};

/// Cuts a stream of bytes into frames, whatever pieces it comes in. Holds at most one frame of
/// `body_bytes_max`; longer ones are checked and passed over without being kept.
class TfRecordReader {
 public:
  explicit TfRecordReader(std::size_t body_bytes_max) : body_bytes_max_(body_bytes_max) {}

  /// Gives the next bytes of the file, which must live until Next has returned kTruncated.
  void Feed(std::string_view bytes);
  TfRecord Next();

  /// Where the first frame that was not yet returned begins.
  std::uint64_t offset() const { return offset_; }
  /// Bytes held of a frame that is not complete; at the end of the file, the length of the torn
  /// tail.
  std::uint64_t torn_bytes() const { return fed_bytes_ - offset_; }
  /// Bytes that belong to no frame, passed over so far after a kBadLength. When this grew and no
  /// sound frame followed, the damage is a torn tail, otherwise it is corruption.
  std::uint64_t skipped_bytes() const { return skipped_bytes_; }

 private:
  std::optional<std::string_view> Peek(std::size_t bytes);
  void Consume(std::size_t bytes);
  bool FindHeader();
  TfRecord PassLongBody();
  TfRecord TakeBody();

  std::size_t body_bytes_max_;
  std::string carry_;         // Start of a frame from earlier pieces.
  std::string_view pending_;  // Rest of the last piece.
  std::size_t consume_later_ = 0;
  std::uint64_t fed_bytes_ = 0;
  std::uint64_t offset_ = 0;
  std::uint64_t skipped_bytes_ = 0;
  bool searching_ = false;
  std::uint64_t long_bytes_left_ = 0;  // Of a body that is too long to keep.
  std::uint64_t long_bytes_ = 0;
  std::uint32_t long_crc_ = 0;
};

}  // namespace whystop
