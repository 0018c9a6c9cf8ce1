#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "record/frame_file.h"
#include "watch/series_thinner.h"

namespace whystop {

/// The middle of a long run, thinned: a file beside the events that holds what was recorded after
/// they were full, in ever wider windows, so that it never grows beyond its bound. Written by the
/// watcher's process: the one that owns the job has no part in it. docs/format.md says how it is read.
class MiddleFile {
 public:
  MiddleFile(std::string directory, std::int64_t bytes_max)
      : directory_(std::move(directory)), bytes_max_(bytes_max) {}

  void Add(const Record& record);
  /// At the end of the run: what is still open is closed.
  void Finish();

 private:
  void Write(const SeriesPoint& point);
  bool Open();
  void Narrow();
  bool WriteAnew(std::chrono::nanoseconds window);

  const std::string directory_;
  const std::int64_t bytes_max_;
  std::chrono::nanoseconds window_ = std::chrono::seconds(1);
  PointCutter cutter_;
  std::unique_ptr<SeriesThinner> thinner_ = std::make_unique<SeriesThinner>(window_);
  FrameFile file_;
  bool open_ = false;
  bool failed_ = false;  // The disk refused: the middle ends here.
};

}  // namespace whystop
