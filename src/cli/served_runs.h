#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "base/clock.h"
#include "cli/run_follower.h"
#include "cli/view_of.h"

namespace whystop {

/// The runs that `serve` shows, read from their recordings only: the recorder never waits for us. A
/// run that goes on is read on from where we were; any other again when its recording has changed. Neither so
/// often that it takes more than a tenth of the time.
class ServedRuns {
 public:
  /// Empty: all recordings of this machine's home, as they come.
  explicit ServedRuns(std::vector<std::string> only) : only_(std::move(only)) {}

  /// What changed on disk since the last call, or was read for the list? Cheap: names and sizes.
  bool Changed();
  /// Reads one run that the list wants and has not got. False: there is none.
  bool ReadOn();
  /// The list, newest first, as JSON. Of very many runs some come later: it answers soon.
  std::string ListJson();
  /// One run as the page draws it. nullptr: no such run, or it cannot be read.
  std::shared_ptr<const std::string> RunJson(const std::string& id);
  /// Text exposition for Prometheus.
  std::string Metrics();

 private:
  struct Stamp {
    std::int64_t bytes = 0;
    /// Number and birth of its first file: a recording may be made anew under its name.
    std::tuple<std::uint64_t, std::int64_t, std::uint32_t> file{};
    bool alive = false;
    bool operator==(const Stamp&) const = default;
  };
  struct Held {
    Stamp stamp;
    std::string summary;  // JSON of its line in the list.
    std::string metrics;
    std::shared_ptr<const std::string> page;  // Dropped when others are looked at.
    std::unique_ptr<RunFollower> follower;    // While the run goes on.
    std::chrono::nanoseconds read_at{};       // 0: not yet.
    std::chrono::nanoseconds read_took{};
    std::uint64_t asked = 0;
  };

  std::vector<std::string> Paths() const;
  static Stamp StampOf(const std::string& path);
  static Result<SeenRun> See(const std::string& path, Held& held, const Stamp& now);
  void RefreshSome(const std::vector<std::string>& paths);
  Held& Refresh(const std::string& path, bool with_page);
  void DropOldPages();

  const std::vector<std::string> only_;
  std::mutex mutex_;  // One reads at a time; the others wait for the same answer.
  std::map<std::string, Held> held_;
  std::map<std::string, Stamp> seen_;
  std::vector<std::string> unread_;  // Of the list, the newest last.
  bool read_on_ = false;
  std::uint64_t asked_ = 0;
};

}  // namespace whystop
