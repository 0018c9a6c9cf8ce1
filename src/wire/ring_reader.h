#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/fd.h"
#include "base/result.h"
#include "wire/ring_format.h"

namespace whystop {

/// Reads one ring file, while its writer lives or after its death. It believes nothing that the
/// checksums do not prove, and reads by pread, so a file that is cut short under it costs records
/// and not this process.
class RingReader {
 public:
  /// kBusy: the writer has not finished the header yet, try again. kCorrupt, kTooNew: not a ring of
  /// ours.
  static Result<RingReader> Open(const std::string& path);
  /// The same for an open file; `path` is for messages.
  static Result<RingReader> FromFile(Fd file, const std::string& path);

  struct Drained {
    std::uint64_t slots = 0;        // Delivered, the reader's own not counted.
    std::uint64_t overwritten = 0;  // Gone before they were read.
    std::uint64_t damaged = 0;      // Not what was written.
    std::uint64_t dropped = 0;      // Not written: threads were in each other's way.
  };
  /// Whole slots (n x 128 bytes), in order, in pieces of at most 64 KiB. The first call begins with
  /// a HELLO slot, and a GAP slot stands where records are missing. The view is valid during the
  /// call only.
  using Callback = std::function<void(std::string_view slots)>;
  Drained Drain(const Callback& deliver);

  /// As of Open, but for the flags, which each Drain reads again.
  const RingHeader& header() const { return header_; }
  bool closed() const { return (header_.flags & kRingClosed) != 0; }

 private:
  RingReader(Fd file, const RingHeader& header) : file_(std::move(file)), header_(header) {}

  void Greet(std::string& out);
  /// A reader that came late takes the names first: the ring repeats each within its length, but
  /// perhaps after its use.
  void DeliverNames(const Callback& deliver);
  std::string ReadSlots(std::uint64_t first, std::uint64_t count) const;
  void ReadChunk(std::uint64_t first, std::uint64_t count, Drained& drained,
                 const Callback& deliver);
  void TakeLastStep(Drained& drained, std::string& out);
  void AppendGap(const Drained& missing, std::string& out) const;
  bool ReadMarks();

  Fd file_;
  RingHeader header_;
  bool greeted_ = false;
  std::uint64_t next_ = 1;          // Sequence number that is expected next.
  std::uint64_t last_step_ns_ = 0;  // Time of the newest STEP that was delivered.
  std::uint64_t dropped_seen_ = 0;
};

}  // namespace whystop
