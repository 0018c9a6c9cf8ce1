#include "wire/ring_writer.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "base/clock.h"
#include "base/crc32c.h"
#include "wire/ring_file.h"

namespace whystop {
namespace {

constexpr std::size_t kPageBytes = 4096;

std::uint64_t NowNs() { return static_cast<std::uint64_t>(MonotonicNow().count()); }

template <typename T>
std::string_view BytesOf(const T& body) {
  return {reinterpret_cast<const char*>(&body), sizeof(T)};
}

std::uint64_t Fnv1a(std::string_view text) {
  std::uint64_t hash = 14695981039346656037ULL;
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  }
  return hash == 0 ? 1 : hash;
}

void Store(std::uint64_t* word, std::uint64_t value, std::memory_order order) {
  std::atomic_ref<std::uint64_t>(*word).store(value, order);
}

/// The seqlock of docs/wire.md: readers see sequence 0, the old slot or the new one, whenever the
/// writer stops.
void Publish(std::uint64_t* place, const Slot& slot) {
  std::uint64_t words[kSlotBytes / 8];
  std::memcpy(words, &slot, kSlotBytes);
  Store(place, 0, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  for (std::size_t i = 1; i < kSlotBytes / 8; ++i) {
    Store(place + i, words[i], std::memory_order_relaxed);
  }
  Store(place, words[0], std::memory_order_release);
}

}  // namespace

/// The right to write, for one record. Never waits long: a thread that was interrupted in
/// mid-record (or a signal handler above it) must not hold up training.
class RingWriter::Turn {
 public:
  explicit Turn(RingWriter& writer) : writer_(writer) {
    if (!writer.alive()) {
      return;
    }
    for (int attempt = 0; attempt < 1000; ++attempt) {
      if (!writer.busy_.test_and_set(std::memory_order_acquire)) {
        taken_ = true;
        return;
      }
    }
    std::atomic_ref<std::uint64_t>(*writer.WordsAt(kDroppedOffset))
        .fetch_add(1, std::memory_order_relaxed);
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  ~Turn() {
    if (taken_) {
      writer_.busy_.clear(std::memory_order_release);
    }
  }
  explicit operator bool() const { return taken_; }

 private:
  RingWriter& writer_;
  bool taken_ = false;
};

std::uint64_t* RingWriter::WordsAt(std::size_t offset) const {
  return reinterpret_cast<std::uint64_t*>(map_ + offset);
}

bool RingWriter::alive() const {
  if (map_ == nullptr) {
    return false;
  }
  return wiped_on_fork_ ? *own_process_ != 0 : getpid() == pid_;
}

bool RingWriter::Open(const RingWriterOptions& options) {
  if (options.directory == nullptr || options.directory[0] == '\0' || map_ != nullptr) {
    return false;
  }
  slot_count_ = std::clamp(options.slot_count, kSlotCountMin, kSlotCountMax);
  pid_ = getpid();
  const std::uint64_t start_ticks = ProcessStartTicks();
  const std::size_t bytes = kRingHeaderBytes + kSlotBytes * slot_count_;
  const int fd = CreateRingFile(options.directory, pid_, start_ticks, bytes);
  if (fd < 0) {
    return false;
  }
  const bool mapped = MapFile(fd, bytes) && MapMarks();
  close(fd);
  if (!mapped) {
    Close();
    return false;
  }
  Stamp(options, start_ticks);
  return true;
}

bool RingWriter::MapFile(int fd, std::size_t bytes) {
  // Populated now, so that no record has to wait for a page.
  void* map = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
  if (map == MAP_FAILED) {
    return false;
  }
  map_ = static_cast<unsigned char*>(map);
  map_bytes_ = bytes;
  return true;
}

bool RingWriter::MapMarks() {
  void* page =
      mmap(nullptr, kPageBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) {
    return false;
  }
  *static_cast<unsigned char*>(page) = 1;
  own_process_ = static_cast<unsigned char*>(page);
  wiped_on_fork_ = madvise(page, kPageBytes, MADV_WIPEONFORK) == 0;
  return true;
}

void RingWriter::Stamp(const RingWriterOptions& options, std::uint64_t start_ticks) {
  RingHeader header{};
  header.version = kRingVersion;
  header.slot_count = slot_count_;
  header.pid = pid_;
  header.start_ticks = start_ticks;
  header.created_ns = NowNs();
  header.rank = options.rank;
  header.local_rank = options.local_rank;
  header.world_size = options.world_size;
  header.writer = options.writer;
  header.pid_namespace = OwnPidNamespace();
  std::strncpy(header.writer_name, options.writer_name, sizeof(header.writer_name) - 1);
  std::memcpy(map_ + sizeof(header.magic), BytesOf(header).data() + sizeof(header.magic),
              sizeof(header) - sizeof(header.magic));
  std::uint64_t magic = 0;
  std::memcpy(&magic, kRingMagic, sizeof(magic));
  Store(WordsAt(0), magic, std::memory_order_release);  // Last: from here on the file is a ring.
}

void RingWriter::Close() {
  if (map_ == nullptr) {
    return;
  }
  if (own_process_ != nullptr && alive()) {
    SetFlags(kRingClosed);
  }
  munmap(map_, map_bytes_);
  map_ = nullptr;
  if (own_process_ != nullptr) {
    munmap(const_cast<unsigned char*>(own_process_), kPageBytes);
    own_process_ = nullptr;
  }
}

void RingWriter::SetFlags(std::uint32_t bits) {
  if (alive()) {
    auto* flags = reinterpret_cast<std::uint32_t*>(map_ + kFlagsOffset);
    std::atomic_ref<std::uint32_t>(*flags).fetch_or(bits, std::memory_order_relaxed);
  }
}

void RingWriter::SetRank(std::int32_t rank, std::int32_t world_size) {
  if (alive()) {
    auto* numbers = reinterpret_cast<std::int32_t*>(map_ + kRankOffset);
    // The reader believes a rank that has a world: that comes first.
    std::atomic_ref<std::int32_t>(numbers[2]).store(world_size, std::memory_order_relaxed);
    std::atomic_ref<std::int32_t>(numbers[0]).store(rank, std::memory_order_release);
  }
}

void RingWriter::PutSlot(SlotKind kind, std::string_view body, std::uint8_t part,
                         std::uint8_t parts) {
  Slot slot{};
  slot.sequence = head_ + 1;
  slot.kind = static_cast<std::uint8_t>(kind);
  slot.part = part;
  slot.parts = parts;
  slot.at_ns = NowNs();
  std::memcpy(slot.body, body.data(), body.size());
  slot.crc = Crc32c(BytesOf(slot));
  Publish(WordsAt(kRingHeaderBytes + kSlotBytes * (head_ % slot_count_)), slot);
  ++head_;
  Store(WordsAt(kHeadOffset), head_, std::memory_order_release);
}

void RingWriter::Put(SlotKind kind, std::string_view body) {
  const std::size_t parts =
      std::max<std::size_t>(1, (body.size() + kSlotBodyBytes - 1) / kSlotBodyBytes);
  if (parts > kPartsMax || parts > slot_count_) {
    return;  // The encoders bound their output; only a ring of the smallest size refuses a long
             // observation.
  }
  for (std::size_t part = 0; part < parts; ++part) {
    const std::size_t from = part * kSlotBodyBytes;
    PutSlot(kind, {body.data() + from, std::min(kSlotBodyBytes, body.size() - from)},
            static_cast<std::uint8_t>(part), static_cast<std::uint8_t>(parts));
  }
}

std::uint64_t RingWriter::Announce(std::string_view name) {
  name = CutText(name, kNameBytesMax);
  const std::uint64_t id = Fnv1a(name);
  NameSeen& seen = names_[id % kNameCacheSize];
  if (seen.id == id && head_ - seen.announced <= slot_count_ / 4) {
    return id;
  }
  char body[10 + kNameBytesMax];
  const auto length = static_cast<std::uint16_t>(name.size());
  std::memcpy(body, &id, 8);
  std::memcpy(body + 8, &length, 2);
  std::memcpy(body + 10, name.data(), name.size());
  Put(SlotKind::kName, {body, 10 + name.size()});
  seen = {id, head_};
  return id;
}

void RingWriter::Step(const StepBody& body, bool last_only) {
  const Turn turn(*this);
  if (!turn) {
    return;
  }
  Slot slot{};
  slot.sequence = head_ + 1;
  slot.kind = static_cast<std::uint8_t>(SlotKind::kStep);
  slot.flags = last_only ? kSlotLastOnly : 0;
  slot.parts = 1;
  slot.at_ns = NowNs();
  std::memcpy(slot.body, &body, sizeof(body));
  slot.crc = Crc32c(BytesOf(slot));
  // The ring first: the reader takes a copy in the header for news only when the ring has lost or
  // never had it.
  if (!last_only) {
    Publish(WordsAt(kRingHeaderBytes + kSlotBytes * (head_ % slot_count_)), slot);
    ++head_;
    Store(WordsAt(kHeadOffset), head_, std::memory_order_release);
  }
  Publish(WordsAt(kLastStepOffset + kSlotBytes * (last_steps_++ % 2)), slot);
}

void RingWriter::Scalar(std::string_view name, ScalarBody body) {
  const Turn turn(*this);
  if (turn) {
    body.name = Announce(name);
    Put(SlotKind::kScalar, BytesOf(body));
  }
}

void RingWriter::Stats(std::string_view name, StatsBody body) {
  const Turn turn(*this);
  if (turn) {
    body.name = Announce(name);
    Put(SlotKind::kStats, BytesOf(body));
  }
}

void RingWriter::Progress(const ProgressBody& body) {
  const Turn turn(*this);
  if (turn) {
    Put(SlotKind::kProgress, BytesOf(body));
  }
}

void RingWriter::Phase(std::string_view name) {
  const Turn turn(*this);
  if (turn) {
    name = CutText(name, kPhaseBytesMax);
    char body[1 + kPhaseBytesMax];
    body[0] = static_cast<char>(name.size());
    std::memcpy(body + 1, name.data(), name.size());
    Put(SlotKind::kPhase, {body, 1 + name.size()});
  }
}

void RingWriter::Observation(std::string_view body) {
  const Turn turn(*this);
  if (turn) {
    Put(SlotKind::kObservation, body);
  }
}

}  // namespace whystop
