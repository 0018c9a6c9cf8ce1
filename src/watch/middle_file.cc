#include "watch/middle_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>

#include "base/fd.h"
#include "base/tfrecord.h"
#include "record/recording_folder.h"
#include "record/recording_reader.h"

namespace whystop {
namespace {

// Half a century: who gets here has more things than series.
constexpr std::chrono::hours kWindowMax{24 * 365 * 50};

std::string Framed(const std::string& message) {
  std::string frame;
  AppendTfRecord(frame, message);
  return frame;
}

}  // namespace

bool MiddleFile::Open() {
  if (!open_ && !failed_) {
    auto fd = OpenFd(directory_ + "/" + std::string(kMiddleFile),
                     O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW);
    failed_ = !fd;
    open_ = static_cast<bool>(fd);
    if (fd) {
      file_ = FrameFile(std::move(*fd));
    }
  }
  return open_ && !failed_;
}

void MiddleFile::Add(const Record& record) {
  if (failed_) {
    return;
  }
  const auto write = [this](const SeriesPoint& point) { Write(point); };
  cutter_.Cut(record, [&](SeriesPoint point) { thinner_->Add(std::move(point), write); });
  if (open_ && file_.size() > bytes_max_) {
    Narrow();
  }
}

void MiddleFile::Finish() {
  thinner_->Flush([this](const SeriesPoint& point) { Write(point); });
  if (open_) {
    file_.Sync();
  }
}

void MiddleFile::Write(const SeriesPoint& point) {
  if (Open() && file_.Append(Framed(point.message)) != 0) {
    failed_ = true;
  }
}

/// Widens the window until the file has room again.
void MiddleFile::Narrow() {
  const std::int64_t enough = bytes_max_ * 2 / 3;
  thinner_->Flush([this](const SeriesPoint& point) { Write(point); });
  while (!failed_ && file_.size() > enough && window_ < kWindowMax) {
    window_ *= 2;
    failed_ = !WriteAnew(window_);
  }
  failed_ = failed_ || file_.size() > bytes_max_;
  thinner_ = std::make_unique<SeriesThinner>(window_);
}

/// The same file with a wider window, put in its place in one step: whoever reads sees one or the other.
bool MiddleFile::WriteAnew(std::chrono::nanoseconds window) {
  const std::string path = directory_ + "/" + std::string(kMiddleFile);
  const std::string fresh_path = directory_ + "/" + std::string(kMiddleNewFile);
  auto old = OpenFd(path, O_RDONLY | O_NOFOLLOW);
  auto fd = OpenFd(fresh_path, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW);
  if (!old || !fd) {
    return false;
  }
  FrameFile fresh(std::move(*fd));
  RecordFile records(std::move(*old));
  PointCutter cutter;
  SeriesThinner thinner(window);
  bool written = true;
  std::string frames;
  const auto write = [&](const SeriesPoint& point) {
    constexpr std::size_t kWriteBytes = 256 << 10;
    AppendTfRecord(frames, point.message);
    if (frames.size() > kWriteBytes) {
      written = written && fresh.Append(frames) == 0;
      frames.clear();
    }
  };
  while (const auto record = records.Next()) {
    cutter.Cut(*record, [&](SeriesPoint point) { thinner.Add(std::move(point), write); });
  }
  thinner.Flush(write);
  written = written && fresh.Append(frames) == 0;
  if (!written || std::rename(fresh_path.c_str(), path.c_str()) != 0) {
    ::unlink(fresh_path.c_str());
    return false;
  }
  file_ = std::move(fresh);
  return true;
}

}  // namespace whystop
