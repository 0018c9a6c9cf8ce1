#include "record/recording_writer.h"

#include <malloc.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <map>
#include <system_error>
#include <thread>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/tfrecord.h"
#include "base/version.h"
#include "record/message.h"
#include "record/recording_folder.h"
#include "record/sample_thinner.h"

namespace whystop {
namespace {

constexpr std::size_t kLogFrameBytes = 64 << 10;
constexpr auto kSyncEvery = std::chrono::seconds(5);

/// What must be the same for the keeper and for the process that may take over from it.
struct SharedState {
  std::atomic<std::int64_t> stream_bytes[4];  // By LogStream.
  std::atomic<std::int64_t> head_bytes;
  std::atomic<int> tail;
  std::atomic<int> late;
};

/// Shared memory that lives as long as one of the processes; nullptr when the system refuses.
SharedState* MakeSharedState() {
  void* memory = ::mmap(nullptr, sizeof(SharedState), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : ::new (memory) SharedState{};
}

std::string Framed(std::string_view message) {
  std::string frame;
  // At once: growing by the checksum at the end would copy it all into twice the room.
  frame.reserve(kTfRecordHeaderBytes + message.size() + kTfRecordFooterBytes);
  AppendTfRecord(frame, message);
  return frame;
}

enum class Target { kEvents, kHead, kTail };
/// What is given up first when the disk is too slow or full.
enum class Keep { kSample, kLog, kProbe, kAlways };

struct Item {
  Target target = Target::kEvents;
  Keep keep = Keep::kAlways;
  std::string frame;
};

class FileWriter final : public RecordingWriter {
 public:
  FileWriter(RecordingFolder folder, const RecordingOptions& options, SharedState* shared)
      : options_(options), folder_(std::move(folder)), shared_(shared) {}

  ~FileWriter() override {
    Stop();
    ::munmap(shared_, sizeof(SharedState));
  }

  void Start() override {
    // Frames come and go by the queue: pages that are given back and taken again each time cost more than writing them.
    ::mallopt(M_TRIM_THRESHOLD, static_cast<int>(options_.queue_bytes));
    folder_.events.GoToEnd();
    for (std::size_t i = 0; i < folder_.tails.size(); ++i) {
      folder_.tails[i].GoToEnd();
      folder_.lates[i].GoToEnd();
    }
    try {
      thread_ = std::thread([this] { WriteUntilStopped(); });
    } catch (const std::system_error&) {
      threadless_ = true;  // A limit on processes: then the caller waits for the disk.
    }
  }

  void Append(const Event& event) override {
    if (const Sample* sample = event.As<Sample>()) {
      const SampleThinner::Thinned thinned = thinner_.Thin(*sample);
      if (!thinned.sample.readings.empty()) {
        Enqueue({Target::kEvents, Keep::kSample,
                 Framed(EncodeSample(event.at, thinned.sample, thinned.whole))});
      }
      return;
    }
    const std::string message = EncodeEvent(event);
    if (!message.empty()) {
      Enqueue({Target::kEvents, Keep::kAlways, Framed(message)});
    }
  }

  void AppendLog(RunTime at, LogStream stream, std::string_view bytes) override {
    auto& stream_bytes = shared_->stream_bytes[static_cast<std::size_t>(stream) & 3];
    while (!bytes.empty()) {
      const std::int64_t head_room = options_.log_head_bytes - shared_->head_bytes.load();
      std::size_t size = std::min(bytes.size(), kLogFrameBytes);
      if (head_room > 0) {
        size = std::min(size, static_cast<std::size_t>(head_room));
        shared_->head_bytes += static_cast<std::int64_t>(size);
      }
      Enqueue({head_room > 0 ? Target::kHead : Target::kTail, Keep::kLog,
               Framed(EncodeLog(at, stream, stream_bytes.load(), bytes.substr(0, size)))});
      stream_bytes += static_cast<std::int64_t>(size);
      bytes.remove_prefix(size);
    }
  }

  void SkipLog(LogStream stream, std::int64_t bytes) override {
    shared_->stream_bytes[static_cast<std::size_t>(stream) & 3] += bytes;
  }

  void AppendProbe(RunTime at, std::int64_t pid, std::string_view slots) override {
    Enqueue({Target::kEvents, Keep::kProbe, Framed(EncodeProbe(at, pid, slots))});
  }

  std::optional<std::int64_t> ProbeBytesLost() const override {
    const MutexLock lock(mutex_);
    return writing_ || !queue_.empty() ? std::nullopt : std::optional(probe_bytes_lost_);
  }

  void Finish() override { Stop(); }

  std::string fault() const override {
    const MutexLock lock(mutex_);
    return fault_ == 0 ? std::string() : std::generic_category().message(fault_);
  }

 private:
  void Enqueue(Item item) {
    if (threadless_) {
      Write(item);
      return;
    }
    {
      const MutexLock lock(mutex_);
      const std::size_t limit = item.keep == Keep::kSample   ? options_.queue_bytes / 2
                                : item.keep == Keep::kAlways ? options_.queue_bytes * 2
                                                             : options_.queue_bytes;
      if (queued_bytes_ + item.frame.size() > limit) {
        dropped_[item.keep == Keep::kSample ? "record.samples_dropped_queue_full"
                                            : "record.bytes_dropped_queue_full"] +=
            item.keep == Keep::kSample ? 1 : static_cast<std::int64_t>(item.frame.size());
        CountLostProbe(item);
        return;
      }
      queued_bytes_ += item.frame.size();
      queue_.push_back(std::move(item));
    }
    ready_.notify_one();
  }

  void CountLostProbe(const Item& item) WS_REQUIRES(mutex_) {
    if (item.keep == Keep::kProbe) {
      probe_bytes_lost_ += static_cast<std::int64_t>(item.frame.size());
    }
  }

  void Stop() {
    {
      const MutexLock lock(mutex_);
      stopping_ = true;
    }
    ready_.notify_one();
    if (thread_.joinable()) {
      thread_.join();
    } else if (threadless_) {
      WriteDrops();
      SyncSometimes(true);
    }
  }

  void WriteUntilStopped() {
    bool stopping = false;
    while (!stopping) {
      std::deque<Item> batch;
      {
        const MutexLock lock(mutex_);
        ready_.wait_for(mutex_, kSyncEvery,
                        [this]() WS_REQUIRES(mutex_) { return stopping_ || !queue_.empty(); });
        batch.swap(queue_);
        queued_bytes_ = 0;
        stopping = stopping_;
        writing_ = true;
      }
      for (const Item& item : batch) {
        Write(item);
      }
      {
        const MutexLock lock(mutex_);
        writing_ = false;
      }
      if (stopping) {
        WriteDrops();
      }
      SyncSometimes(stopping);
    }
  }

  /// Once, at the end: on a full disk every line counts.
  void WriteDrops() {
    std::map<std::string, std::int64_t> dropped;
    {
      const MutexLock lock(mutex_);
      dropped.swap(dropped_);
    }
    for (const auto& [counter, count] : dropped) {
      Write(
          {Target::kEvents, Keep::kAlways, Framed(EncodeEvent({RunTime{}, Drop{counter, count}}))});
    }
  }

  void SyncSometimes(bool now) {
    const std::chrono::nanoseconds time = MonotonicNow();
    if (now || time - last_sync_ >= kSyncEvery) {
      last_sync_ = time;
      folder_.events.Sync();
      folder_.tails[static_cast<std::size_t>(shared_->tail.load())].Sync();
      folder_.lates[static_cast<std::size_t>(shared_->late.load())].Sync();
      folder_.reserve.Sync();
    }
  }

  void Write(const Item& item) {
    // A log that comes slowly is still at its head when the events are full: it has a tail of its own.
    const bool is_tail = item.target == Target::kTail ||
                         (item.target == Target::kHead && folder_.events.size() >= options_.events_bytes);
    const int fault = is_tail ? WriteTail(item.frame) : WriteEvent(item.frame);
    if (fault == 0) {
      return;
    }
    {
      const MutexLock lock(mutex_);
      fault_ = fault;
      CountLostProbe(item);
      if (item.keep != Keep::kAlways) {
        dropped_["record.bytes_dropped_disk_refused"] +=
            static_cast<std::int64_t>(item.frame.size());
      }
    }
    WriteReserve(item);
  }

  int WriteTail(const std::string& frame) {
    return WriteRound(folder_.tails, shared_->tail, options_.log_tail_bytes / 2, frame);
  }

  int WriteEvent(const std::string& frame) {
    if (folder_.events.size() < options_.events_bytes) {
      return folder_.events.Append(frame);
    }
    const int before = shared_->late.load();
    const std::int64_t given_up =
        folder_.lates[static_cast<std::size_t>(1 - before)].size();  // If it comes to that.
    const int fault = WriteRound(folder_.lates, shared_->late, options_.late_bytes / 2, frame);
    if (shared_->late.load() != before && given_up > 0) {
      const MutexLock lock(mutex_);
      dropped_["record.event_bytes_dropped_between"] += given_up;
    }
    return fault;
  }

  /// Into the current one of two halves; a full one makes the other the current one, emptied.
  static int WriteRound(std::array<FrameFile, 2>& halves, std::atomic<int>& current_half,
                        std::int64_t half_bytes, const std::string& frame) {
    int current = current_half.load();
    if (halves.at(static_cast<std::size_t>(current)).size() >= half_bytes) {
      current = 1 - current;
      if (const int fault = halves.at(static_cast<std::size_t>(current)).Clear(); fault != 0) {
        return fault;
      }
      current_half = current;
    }
    return halves.at(static_cast<std::size_t>(current)).Append(frame);
  }

  /// The disk is full (or gone): the exit and the last words of the log still fit into what was
  /// reserved.
  void WriteReserve(const Item& item) {
    const std::int64_t room = kReserveBytes - folder_.reserve.size();
    const std::int64_t kept_free = item.keep == Keep::kAlways ? 0 : kReserveBytes / 4;
    if (item.keep != Keep::kSample &&
        room - static_cast<std::int64_t>(item.frame.size()) >= kept_free) {
      [[maybe_unused]] const int fault = folder_.reserve.Append(item.frame);
    }
  }

  const RecordingOptions options_;
  RecordingFolder folder_;  // Writer thread only, once it runs.
  SharedState* const shared_;
  SampleThinner thinner_;  // Caller's thread only.
  std::chrono::nanoseconds last_sync_{};
  std::thread thread_;
  bool threadless_ = false;
  mutable Mutex mutex_;
  std::condition_variable_any ready_;
  std::deque<Item> queue_ WS_GUARDED_BY(mutex_);
  std::size_t queued_bytes_ WS_GUARDED_BY(mutex_) = 0;
  std::map<std::string, std::int64_t> dropped_ WS_GUARDED_BY(mutex_);
  int fault_ WS_GUARDED_BY(mutex_) = 0;
  bool writing_ WS_GUARDED_BY(mutex_) = false;
  std::int64_t probe_bytes_lost_ WS_GUARDED_BY(mutex_) = 0;
  bool stopping_ WS_GUARDED_BY(mutex_) = false;
};

class NullWriter final : public RecordingWriter {
 public:
  void Start() override {}
  void Append(const Event& /*event*/) override {}
  void AppendLog(RunTime /*at*/, LogStream /*stream*/, std::string_view /*bytes*/) override {}
  void SkipLog(LogStream /*stream*/, std::int64_t /*bytes*/) override {}
  void AppendProbe(RunTime /*at*/, std::int64_t /*pid*/, std::string_view /*slots*/) override {}
  std::optional<std::int64_t> ProbeBytesLost() const override { return std::nullopt; }
  void Finish() override {}
  std::string fault() const override { return {}; }
};

}  // namespace

RecordingOptions ShareOut(std::int64_t recording_bytes, RecordingOptions wanted) {
  const std::int64_t all = std::max(recording_bytes, kRecordingBytesMin);
  wanted.log_tail_bytes = std::min(wanted.log_tail_bytes, all / 4);
  // Files end with the record that fills them; the rings of living processes are not counted.
  const std::int64_t rest = all - wanted.log_tail_bytes - kReserveBytes - all / 32;
  wanted.events_bytes = rest / 2;
  wanted.log_head_bytes = std::min(wanted.log_head_bytes, wanted.events_bytes / 4);
  wanted.late_bytes = rest * 3 / 10;
  wanted.middle_bytes = rest - wanted.events_bytes - wanted.late_bytes;
  return wanted;
}

Result<std::unique_ptr<RecordingWriter>> RecordingWriter::Create(const std::string& directory,
                                                                 const RecordingOptions& options) {
  auto folder = OpenRecordingFolder(directory);
  if (!folder) {
    return folder.error();
  }
  if (const int fault =
          folder->events.Append(Framed(EncodeHeader({kRecordingFormat, std::string(kVersion)})));
      fault != 0) {
    return SystemError("cannot write into '" + directory + "'", fault);
  }
  SharedState* shared = MakeSharedState();
  if (shared == nullptr) {
    return SystemError("cannot share memory", errno);
  }
  return std::unique_ptr<RecordingWriter>(
      std::make_unique<FileWriter>(std::move(*folder), options, shared));
}

std::unique_ptr<RecordingWriter> RecordingWriter::Null() { return std::make_unique<NullWriter>(); }

}  // namespace whystop
