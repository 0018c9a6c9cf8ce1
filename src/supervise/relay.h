#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <thread>

#include "base/fd.h"
#include "base/mutex.h"
#include "base/result.h"
#include "supervise/channel.h"
#include "supervise/terminal_mirror.h"

namespace whystop {

/// Moves one channel's bytes to the user, with a copy into the tap for the recording. Its own
/// thread may wait for a slow terminal, as the job itself would have; it never waits long for the
/// recording. All moves are made by the kernel from pipe to pipe, so a SIGKILL at any instruction
/// finds each byte either in the channel's pipe, which the other process holds too, or at the
/// user's.
class Relay {
 public:
  /// What the thread tells, as bytes on notices().
  enum Notice : char {
    kDrained = 'd',     // After NotifyJobEnded: all that the job wrote has reached the user.
    kJobClosed = 'c',   // Nobody can write to this channel any more. The thread has ended.
    kReaderGone = 'g',  // The user's side is closed. The thread has ended.
    kFullScreen = 'f',  // A program took the terminal's modes over ...
    kLineByLine = 'l',  // ... and gave them back.
  };

  /// `channel` must outlive the relay.
  static Result<std::unique_ptr<Relay>> Start(const Channel& channel);
  ~Relay();
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  /// To be watched: readable when there is something to record.
  int tap() const { return tap_read_.get(); }
  /// What waits in the tap; `skipped` grows by what was given up since the last call, just before these bytes.
  ssize_t ReadTap(std::span<char> into, std::int64_t& skipped);
  /// While on, a full tap gives up its oldest half, uncopied, instead of being waited for. Where the system
  /// does not allow that (no /dev/null), it is waited for all the same.
  void ThinTap(bool on) { tap_is_thinned_ = on; }
  bool can_thin() const { return can_thin_; }
  int notices() const { return notice_read_.get(); }
  void NotifyJobEnded() const;
  /// Bytes that reached the user but not the tap, because nobody emptied it in time.
  std::int64_t unrecorded_bytes() const { return unrecorded_bytes_.load(); }

 private:
  enum class Moved { kSome, kNothing, kReaderGone };

  explicit Relay(const Channel& channel) : channel_(channel) {}
  Status OpenPipes();
  Status TryMoving() const;
  void Run();
  bool SourceIsEmpty() const;
  bool FillFromTerminal() const;
  void MirrorModes();
  Moved MoveWaiting();
  std::size_t Tap(std::size_t waiting_bytes);
  bool GiveUpOldest();
  Moved Deliver(std::size_t bytes);
  ssize_t DeliverByCopy(std::size_t bytes);
  void Tell(Notice notice) const;

  const Channel& channel_;
  Fd tap_read_, tap_write_;
  Fd peek_read_, peek_write_;  // Only for a user's descriptor that splice(2) refuses.
  Fd notice_read_, notice_write_;
  Fd wake_;
  Fd nowhere_;  // /dev/null.
  std::optional<ModeMirror> modes_;  // Used by the thread only, as long as it runs.
  bool by_copy_ = false;
  bool tap_is_stuck_ = false;
  std::atomic<bool> tap_is_thinned_{false};
  std::atomic<bool> can_thin_{false};
  Mutex tap_mutex_;  // Between reading and giving up, so that it is known where the gap is.
  std::int64_t given_up_bytes_ WS_GUARDED_BY(tap_mutex_) = 0;
  std::atomic<std::int64_t> unrecorded_bytes_{0};
  std::thread thread_;
};

}  // namespace whystop
