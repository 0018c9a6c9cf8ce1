#include "wire/ring_reader.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/clock.h"
#include "wire/slot_check.h"

namespace whystop {
namespace {

constexpr std::uint64_t kChunkSlots = 512;
constexpr std::uint64_t kHeadMax = 1ULL << 62;

Error Refuse(Error::Code code, const std::string& path, const char* why) {
  return {.code = code, .what = path + ": " + why, .hint = ""};
}

template <typename T>
bool ReadInto(const Fd& file, T& into, std::size_t offset) {
  return ReadAt(file.get(), {reinterpret_cast<char*>(&into), sizeof(T)},
                static_cast<off_t>(offset)) == static_cast<ssize_t>(sizeof(T));
}

Slot LoadSlot(std::string_view bytes) {
  Slot slot;
  std::memcpy(&slot, bytes.data(), sizeof(slot));
  return slot;
}

template <typename Body>
void AppendOwn(SlotKind kind, const Body& body, std::string& out) {
  Slot slot{};
  slot.kind = static_cast<std::uint8_t>(kind);
  slot.parts = 1;
  slot.at_ns = static_cast<std::uint64_t>(MonotonicNow().count());
  std::memcpy(slot.body, &body, sizeof(body));
  SealSlot(slot);
  out.append(reinterpret_cast<const char*>(&slot), sizeof(slot));
}

void Deliver(std::string& out, const RingReader::Callback& deliver) {
  if (!out.empty()) {
    deliver(out);
    out.clear();
  }
}

}  // namespace

Result<RingReader> RingReader::Open(const std::string& path) {
  // Not blocking: the directory belongs to the job, which may have put a FIFO there.
  auto file = OpenFd(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW);
  if (!file) {
    return file.error();
  }
  return FromFile(std::move(*file), path);
}

Result<RingReader> RingReader::FromFile(Fd file, const std::string& path) {
  struct stat facts {};
  if (::fstat(file.get(), &facts) != 0 || !S_ISREG(facts.st_mode)) {
    return Refuse(Error::Code::kCorrupt, path, "not a regular file");
  }
  RingHeader header{};
  if (!ReadInto(file, header, 0) ||
      std::string_view(header.magic, 8) == std::string_view("\0\0\0\0\0\0\0\0", 8)) {
    return Refuse(Error::Code::kBusy, path, "the ring's header is not written yet");
  }
  if (std::memcmp(header.magic, kRingMagic, sizeof(header.magic)) != 0) {
    return Refuse(Error::Code::kCorrupt, path, "not a ring file (bad magic)");
  }
  if (header.version != kRingVersion) {
    return Refuse(Error::Code::kTooNew, path, "written by another version of the ring format");
  }
  const auto size = static_cast<std::uint64_t>(facts.st_size);
  if (header.slot_count < kSlotCountMin || header.slot_count > kSlotCountMax ||
      size < kRingHeaderBytes + kSlotBytes * header.slot_count) {
    return Refuse(Error::Code::kCorrupt, path, "slot count does not fit the file");
  }
  return RingReader(std::move(file), header);
}

bool RingReader::ReadMarks() {
  RingHeader now{};
  if (!ReadInto(file_, now, 0)) {
    return false;
  }
  header_.flags = now.flags;
  if (now.rank != header_.rank) {  // It came to be known after the ring was made: greet again.
    header_.rank = now.rank;
    header_.world_size = now.world_size;
    greeted_ = false;
  }
  // A number that no writer reaches is not believed: the slots tell by themselves.
  header_.head = now.head < kHeadMax ? now.head : next_ - 1;
  header_.dropped = now.dropped;
  return true;
}

void RingReader::Greet(std::string& out) {
  if (!greeted_) {
    greeted_ = true;
    AppendOwn(SlotKind::kHello,
              HelloBody{header_.pid, header_.start_ticks, header_.rank, header_.local_rank,
                        header_.world_size, header_.writer, header_.flags, 0},
              out);
  }
}

void RingReader::AppendGap(const Drained& missing, std::string& out) const {
  if (missing.overwritten + missing.damaged + missing.dropped > 0) {
    AppendOwn(SlotKind::kGap, GapBody{missing.overwritten, missing.damaged, missing.dropped}, out);
  }
}

RingReader::Drained RingReader::Drain(const Callback& deliver) {
  Drained drained;
  if (!ReadMarks()) {
    return drained;
  }
  std::string out;
  Greet(out);
  const std::uint64_t head = header_.head;
  const std::uint64_t count = header_.slot_count;
  if (head >= count && next_ <= head - count) {
    drained.overwritten = head - count + 1 - next_;
    next_ = head - count + 1;
  }
  drained.dropped = header_.dropped > dropped_seen_ ? header_.dropped - dropped_seen_ : 0;
  dropped_seen_ = std::max(dropped_seen_, header_.dropped);
  AppendGap(drained, out);
  Deliver(out, deliver);
  if (drained.overwritten > 0) {
    DeliverNames(deliver);
  }
  while (next_ <= head) {
    const std::uint64_t to_end = count - (next_ - 1) % count;
    ReadChunk(next_, std::min({kChunkSlots, head - next_ + 1, to_end}), drained, deliver);
  }
  // Slots that are complete though the head does not say so (the writer died in between, or is at
  // work now).
  for (std::uint64_t i = 0; i < count; ++i) {
    char bytes[kSlotBytes];
    if (!ReadInto(file_, bytes, kRingHeaderBytes + kSlotBytes * ((next_ - 1) % count)) ||
        !SlotIsSound({bytes, kSlotBytes}) || LoadSlot({bytes, kSlotBytes}).sequence != next_) {
      break;
    }
    ReadChunk(next_, 1, drained, deliver);
  }
  TakeLastStep(drained, out);
  Deliver(out, deliver);
  return drained;
}

void RingReader::DeliverNames(const Callback& deliver) {
  std::string names;
  for (std::uint64_t first = next_; first <= header_.head;) {
    const std::uint64_t to_end = header_.slot_count - (first - 1) % header_.slot_count;
    const std::uint64_t count = std::min({kChunkSlots, header_.head - first + 1, to_end});
    const std::string bytes = ReadSlots(first, count);
    for (std::size_t i = 0; i + kSlotBytes <= bytes.size(); i += kSlotBytes) {
      const std::string_view slot_bytes = std::string_view(bytes).substr(i, kSlotBytes);
      if (LoadSlot(slot_bytes).kind == static_cast<std::uint8_t>(SlotKind::kName) &&
          SlotIsSound(slot_bytes)) {
        names.append(slot_bytes);
      }
    }
    Deliver(names, deliver);
    first += count;
  }
}

std::string RingReader::ReadSlots(std::uint64_t first, std::uint64_t count) const {
  std::string bytes(count * kSlotBytes, '\0');
  const std::size_t offset = kRingHeaderBytes + kSlotBytes * ((first - 1) % header_.slot_count);
  const ssize_t got = ReadAt(file_.get(), bytes, static_cast<off_t>(offset));
  bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return bytes;
}

void RingReader::ReadChunk(std::uint64_t first, std::uint64_t count, Drained& drained,
                           const Callback& deliver) {
  const std::string bytes = ReadSlots(first, count);
  std::string out;
  Drained missing;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::string_view slot_bytes =
        i * kSlotBytes + kSlotBytes <= bytes.size()
            ? std::string_view(bytes).substr(i * kSlotBytes, kSlotBytes)
            : std::string_view();
    const std::uint64_t sequence = first + i;
    if (SlotIsSound(slot_bytes) && LoadSlot(slot_bytes).sequence == sequence) {
      AppendGap(missing, out);
      missing = {};
      out.append(slot_bytes);
      ++drained.slots;
      const Slot slot = LoadSlot(slot_bytes);
      if (slot.kind == static_cast<std::uint8_t>(SlotKind::kStep)) {
        last_step_ns_ = std::max(last_step_ns_, slot.at_ns);
      }
      continue;
    }
    // Every slot up to the head was whole once. Either the writer has come round to it again, or it
    // is damaged.
    std::uint64_t head = 0;
    const bool overwritten = ReadInto(file_, head, kHeadOffset) && head < kHeadMax &&
                             head + 1 >= sequence + header_.slot_count;
    (overwritten ? missing.overwritten : missing.damaged) += 1;
    (overwritten ? drained.overwritten : drained.damaged) += 1;
  }
  AppendGap(missing, out);
  next_ = first + count;
  Deliver(out, deliver);
}

void RingReader::TakeLastStep(Drained& drained, std::string& out) {
  std::string newest;
  std::uint64_t newest_ns = last_step_ns_;
  for (std::size_t place = 0; place < 2; ++place) {
    char bytes[kSlotBytes];
    if (!ReadInto(file_, bytes, kLastStepOffset + place * kSlotBytes) ||
        !SlotIsSound({bytes, kSlotBytes})) {
      continue;
    }
    const Slot slot = LoadSlot({bytes, kSlotBytes});
    const bool is_step =
        slot.kind == static_cast<std::uint8_t>(SlotKind::kStep) && slot.sequence != 0;
    // A copy of a ring slot that is still to be read will come by itself.
    const bool comes_later = (slot.flags & kSlotLastOnly) == 0 && slot.sequence >= next_;
    if (is_step && !comes_later && slot.at_ns > newest_ns) {
      newest_ns = slot.at_ns;
      newest.assign(bytes, kSlotBytes);
    }
  }
  if (!newest.empty()) {
    last_step_ns_ = newest_ns;
    out += newest;
    ++drained.slots;
  }
}

}  // namespace whystop
