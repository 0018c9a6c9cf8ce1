#include "record/recording_reader.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>

#include "record/recording_folder.h"

namespace whystop {
namespace {

// Beyond so much in a row without one sound frame a file is given up: a sparse one may be endless.
constexpr std::uint64_t kGarbageBytesMax = 64 << 20;

}  // namespace

bool RecordFile::Refill() {
  struct stat facts {};
  if (::fstat(fd_.get(), &facts) == 0 && facts.st_size < offset_) {
    StartOver();
  }
  if (frames_.skipped_bytes() - skipped_sound_ > kGarbageBytesMax) {
    unread_ = std::max<std::int64_t>(0, facts.st_size - offset_);  // Not a recording any more.
    return false;
  }
  const ssize_t size = ReadAt(fd_.get(), buffer_, offset_);
  if (size <= 0) {
    return false;
  }
  offset_ += size;
  frames_.Feed({buffer_.data(), static_cast<std::size_t>(size)});
  return true;
}

/// The log's tail goes round in two files, so a live reader may find one emptied and begun anew.
void RecordFile::StartOver() {
  offset_ = 0;
  frames_ = TfRecordReader(kMessageBytesMax);
  skipped_sound_ = 0;
  unread_ = 0;
}

std::optional<Record> RecordFile::Next() {
  while (true) {
    const TfRecord frame = frames_.Next();
    switch (frame.state) {
      case TfRecord::State::kTruncated:
        if (!Refill()) {
          return std::nullopt;
        }
        break;
      case TfRecord::State::kWhole: {
        skipped_sound_ = frames_.skipped_bytes();
        auto record = DecodeRecord(frame.body);
        if (record) {
          return record;
        }
        ++damage_.unknown_messages;
        break;
      }
      case TfRecord::State::kBadBody:
      case TfRecord::State::kTooLong:
        ++damage_.corrupt_frames;
        break;
      case TfRecord::State::kBadLength:
        break;  // Corruption or torn tail: whether a sound frame follows decides.
    }
  }
}

RecordingDamage RecordFile::DamageAtEnd() const {
  RecordingDamage damage = damage_;
  damage.corrupt_bytes = static_cast<std::int64_t>(skipped_sound_) + unread_;
  damage.torn_bytes =
      static_cast<std::int64_t>(frames_.torn_bytes() + frames_.skipped_bytes() - skipped_sound_);
  return damage;
}

Result<RecordingReader> RecordingReader::Open(const std::string& directory) {
  RecordingReader reader;
  for (const std::string_view name : {kEventsFile, kLateFiles[0], kLateFiles[1], kTailFiles[0],
                                      kTailFiles[1], kReserveFile, kWatchFile,
                                      kMiddleFile}) {
    // Not to wait for the writer of a FIFO: somebody may have put one there.
    auto fd = OpenFd(directory + "/" + std::string(name), O_RDONLY | O_NONBLOCK);
    struct stat facts {};
    if (fd && (::fstat(fd->get(), &facts) != 0 || !S_ISREG(facts.st_mode))) {
      fd = Error{Error::Code::kCorrupt, "'" + directory + "/" + std::string(name) + "' is no file",
                 ""};
    }
    if (fd) {
      const auto part = name == kLateFiles[0] || name == kLateFiles[1] ? Source::Part::kLate
                        : name == kMiddleFile                           ? Source::Part::kMiddle
                                                                        : Source::Part::kOther;
      reader.thinned_ = reader.thinned_ || part == Source::Part::kMiddle;
      reader.sources_.push_back({std::make_unique<RecordFile>(std::move(*fd)), std::nullopt, part});
    } else if (name == kEventsFile) {
      return fd.error();
    }
  }
  if (auto first = reader.sources_.front().file->Next()) {
    if (const auto* header = std::get_if<RecordingHeader>(&first->body)) {
      reader.header_ = *header;
    } else {
      reader.sources_.front().head = std::move(first);
    }
  }
  if (reader.header_.format > kRecordingFormat) {
    return Error{
        Error::Code::kTooNew,
        "'" + directory + "' was recorded with format " + std::to_string(reader.header_.format) +
            "; this build reads up to " + std::to_string(kRecordingFormat),
        "use the whystop that recorded it (" + reader.header_.whystop_version + ") or a newer one"};
  }
  return reader;
}

std::optional<Record> RecordingReader::Next() {
  while (true) {
    Source* earliest = nullptr;
    for (Source& source : sources_) {
      if (!source.head && !source.at_end) {
        source.head = source.file->Next();
        source.at_end = !source.head;
      }
      if (source.head && (earliest == nullptr || source.head->at < earliest->head->at)) {
        earliest = &source;
      }
    }
    if (earliest == nullptr) {
      for (Source& source : sources_) {
        source.at_end = false;  // The next call looks again.
      }
      return std::nullopt;
    }
    Record record = std::move(*earliest->head);
    earliest->head.reset();
    if (earliest->part == Source::Part::kMiddle && late_seen_) {
      continue;  // Here the late files have everything, not only what was worth keeping of it.
    }
    last_was_late_ = earliest->part == Source::Part::kLate;
    late_seen_ = late_seen_ || last_was_late_;
    if (std::holds_alternative<RecordingHeader>(record.body) || DropRepeatedLog(record)) {
      continue;
    }
    return record;
  }
}

/// A process that took over may have written again what the dead one had written. True: nothing new
/// in it.
bool RecordingReader::DropRepeatedLog(Record& record) {
  auto* log = std::get_if<LogBytes>(&record.body);
  if (log == nullptr) {
    return false;
  }
  std::int64_t& next = log_offset_[log->stream];
  const auto end = log->offset + static_cast<std::int64_t>(log->bytes.size());
  if (end <= next) {
    return true;
  }
  if (log->offset < next) {
    log->bytes.erase(0, static_cast<std::size_t>(next - log->offset));
    log->offset = next;
  }
  next = end;
  return false;
}

RecordingDamage RecordingReader::DamageAtEnd() const {
  RecordingDamage sum;
  for (const Source& source : sources_) {
    const RecordingDamage damage = source.file->DamageAtEnd();
    sum.torn_bytes += damage.torn_bytes;
    sum.corrupt_frames += damage.corrupt_frames;
    sum.corrupt_bytes += damage.corrupt_bytes;
    sum.unknown_messages += damage.unknown_messages;
  }
  return sum;
}

bool IsRecording(const std::string& directory) {
  struct stat facts {};
  return ::stat((directory + "/" + std::string(kEventsFile)).c_str(), &facts) == 0 &&
         S_ISREG(facts.st_mode);
}

}  // namespace whystop
