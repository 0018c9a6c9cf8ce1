#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/fd.h"
#include "base/result.h"
#include "record/frame_file.h"

namespace whystop {

inline constexpr std::string_view kEventsFile = "events.tfrecord";
inline constexpr std::string_view kReserveFile = "reserve.tfrecord";
inline constexpr std::array<std::string_view, 2> kTailFiles = {"tail-0.tfrecord",
                                                               "tail-1.tfrecord"};
/// What the watcher beside the recorder saw of a job that stood still; written by that process alone.
inline constexpr std::string_view kWatchFile = "watch.tfrecord";
// Events of a run that is longer than its events file may grow: the newest, in two halves.
inline constexpr std::array<std::string_view, 2> kLateFiles = {"late-0.tfrecord",
                                                               "late-1.tfrecord"};
/// What lay between the events and those, thinned; written by the watcher alone, and anew when it is full.
inline constexpr std::string_view kMiddleFile = "middle.tfrecord";
inline constexpr std::string_view kMiddleNewFile = "middle.new";
inline constexpr std::string_view kRingFolder = "rings";
inline constexpr std::string_view kLockFile = "lock";
/// The trials of `whystop try`, each a recording with these files more: what was changed, why it could
/// not begin, and what the next trial goes on from.
inline constexpr char kTrialsFolder[] = "trials";
inline constexpr char kSpecFile[] = "trial";
inline constexpr char kFaultFile[] = "fault";
inline constexpr char kToldFile[] = "told";  // Of a trial: its probe has said all.
inline constexpr char kStateFile[] = "state";

/// Space that is taken when the run starts, so that its end is on record even when the disk is full
/// by then: room for the last lines of the log and the exit status.
inline constexpr std::int64_t kReserveBytes = 256 << 10;

/// The opened files of a recording that this process may write.
struct RecordingFolder {
  Fd lock;
  FrameFile events;
  FrameFile reserve;
  std::array<FrameFile, 2> tails;
  std::array<FrameFile, 2> lates;
};

/// Makes (0700), locks and opens (0600) a folder for a new recording. An earlier recording in it is
/// moved to earlier-N: nothing is overwritten. kBusy: another whystop writes there.
Result<RecordingFolder> OpenRecordingFolder(const std::string& directory);

/// The pid of the whystop that holds the folder's lock, or 0.
std::int64_t LockHolder(const std::string& directory);

}  // namespace whystop
