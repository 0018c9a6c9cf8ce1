// Ring file and slots from anybody: the reader and the decoder must survive all of it, and must not
// care in which pieces the slots come.

#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "base/fd.h"
#include "wire/ring_reader.h"
#include "wire/slot_check.h"
#include "wire/slot_decoder.h"

namespace {

/// Counts and adds up events, so that two ways of decoding can be compared.
class Tally : public whystop::EventSink {
 public:
  void Push(const whystop::Event& event) override {
    ++count;
    kinds = kinds * 31 + event.body.index();
    if (const auto* seen = event.As<whystop::Observation>()) {
      kinds += seen->attributes.size();
    }
  }
  std::uint64_t count = 0;
  std::uint64_t kinds = 0;
};

void Require(bool holds) {
  if (!holds) {
    std::abort();
  }
}

/// A file in memory that holds the input as a ring, its checksums made good where the input asks
/// for it.
whystop::Fd RingOf(std::string_view input, bool seal) {
  whystop::Fd file(memfd_create("ring", MFD_CLOEXEC));
  std::string bytes(whystop::kRingHeaderBytes + whystop::kSlotBytes * whystop::kSlotCountMin, '\0');
  bytes.replace(0, 8, whystop::kRingMagic, 8);
  bytes[8] = 1;
  bytes[12] = static_cast<char>(whystop::kSlotCountMin);
  const std::size_t head = std::min(input.size(), std::size_t{512});
  bytes.replace(16, head > 16 ? head - 16 : 0,
                input.substr(0, head).substr(std::min<std::size_t>(16, head)));
  const std::string_view rest = input.substr(head);
  const std::size_t room = bytes.size() - whystop::kRingHeaderBytes;
  bytes.replace(whystop::kRingHeaderBytes, std::min(rest.size(), room), rest.substr(0, room));
  for (std::size_t at = whystop::kRingHeaderBytes; seal && at < bytes.size();
       at += whystop::kSlotBytes) {
    whystop::Slot slot;
    std::memcpy(&slot, &bytes[at], sizeof(slot));
    slot.sequence = (at - whystop::kRingHeaderBytes) / whystop::kSlotBytes + 1;
    slot.flags &= static_cast<std::uint8_t>(~whystop::kSlotZlibCrc);
    whystop::SealSlot(slot);
    std::memcpy(&bytes[at], &slot, sizeof(slot));
  }
  Require(whystop::WriteAll(file.get(), bytes) == 0);
  return file;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) {
    return 0;
  }
  const bool seal = (data[0] & 1) != 0;
  const std::string_view input(reinterpret_cast<const char*>(data) + 1, size - 1);

  Tally at_once, in_pieces;
  whystop::SlotDecoder one, other;
  one.Feed(1, std::chrono::seconds(5), input, at_once);
  for (std::size_t at = 0; at + whystop::kSlotBytes <= input.size(); at += whystop::kSlotBytes) {
    other.Feed(1, std::chrono::seconds(5), input.substr(at, whystop::kSlotBytes), in_pieces);
  }
  Require(at_once.count == in_pieces.count && at_once.kinds == in_pieces.kinds);

  auto reader = whystop::RingReader::FromFile(RingOf(input, seal), "fuzz");
  if (reader) {
    Tally events;
    whystop::SlotDecoder decoder;
    for (int round = 0; round < 2; ++round) {
      reader->Drain([&](std::string_view slots) {
        Require(slots.size() % whystop::kSlotBytes == 0);
        for (std::size_t at = 0; at < slots.size(); at += whystop::kSlotBytes) {
          Require(whystop::SlotIsSound(slots.substr(at, whystop::kSlotBytes)));
        }
        decoder.Feed(1, std::chrono::seconds(5), slots, events);
      });
    }
  }
  return 0;
}
