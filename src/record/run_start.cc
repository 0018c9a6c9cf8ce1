#include "record/run_start.h"

#include <fcntl.h>

#include <vector>

#include "base/fd.h"
#include "base/tfrecord.h"
#include "record/message.h"
#include "record/recording_folder.h"

namespace whystop {

std::optional<RunStart> ReadRunStart(const std::string& directory) {
  // The start is the first event of every run; its command line and variables fit in here.
  constexpr std::size_t kStartBytesMax = 1 << 20;
  constexpr std::size_t kFirstBytes = 16 << 10;
  const auto file = OpenFd(directory + "/" + std::string(kEventsFile), O_RDONLY | O_NONBLOCK);
  if (!file) {
    return std::nullopt;
  }
  for (std::size_t size = kFirstBytes; size <= kStartBytesMax; size *= 8) {
    std::vector<char> bytes(size);
    const ssize_t read = ReadAt(file->get(), bytes, 0);
    if (read <= 0) {
      return std::nullopt;
    }
    TfRecordReader frames(kStartBytesMax);
    frames.Feed({bytes.data(), static_cast<std::size_t>(read)});
    for (TfRecord frame = frames.Next(); frame.state == TfRecord::State::kWhole; frame = frames.Next()) {
      const auto record = DecodeRecord(frame.body);
      const Event* event = record ? std::get_if<Event>(&record->body) : nullptr;
      if (const RunStart* start = event == nullptr ? nullptr : event->As<RunStart>()) {
        return *start;
      }
    }
  }
  return std::nullopt;
}

}  // namespace whystop
