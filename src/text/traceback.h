#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/event.h"
#include "text/prefix.h"

namespace whystop {

/// A Python exception as printed, once all of its text was read.
struct PrintedException {
  ExceptionSeen seen;
  bool warned = false;  // Printed through a logger below error level, or "Exception ignored in":
                        // told, not raised.
  bool glued = false;   // Its header stands right behind the first half of another line.
};

/// The line before a traceback that does not end the program: "Exception ignored in", of a thread,
/// of a handler at exit, of the logging module.
bool AnnouncesToldException(std::string_view body);

/// Puts Python tracebacks together line by line: chained, from workers ("Original Traceback"), from
/// several ranks at once, behind logger prefixes, inside exception groups. Bounded in frames, text
/// and number of ranks.
class TracebackReader {
 public:
  explicit TracebackReader(std::string file) : file_(std::move(file)) {}

  /// False: pushing the line would do nothing. `header`: it holds a traceback's header.
  bool Wants(std::string_view body, bool header) const {
    return header || !open_.empty() || body.starts_with("  File \"") ||
           AnnouncesToldException(body);
  }
  /// True: the line is part of a traceback (its numbers are no metrics).
  bool Push(const PeeledLine& line, std::int64_t number);
  /// Tracebacks whose last line was read. Call after each Push.
  std::vector<PrintedException> TakeFinished();
  /// An exception's own line was read, and more of its text may follow.
  bool HasOpenException() const;
  bool InFrames() const;
  /// The first frame of a traceback of which nothing else was read yet.
  std::optional<Frame> FirstFrame() const;
  /// The message at hand announces more, or has several lines: what looks like a frame is quoted in it.
  bool MessageGoesOn() const;
  /// Something that is no part of any message was printed.
  void EndMessages();
  /// The log is over: what is open is complete.
  void Finish();

 private:
  enum class State : std::uint8_t { kIdle, kFrames, kMessage, kGap, kChained };
  struct Open {
    std::optional<int> rank;
    State state = State::kIdle;
    PrintedException exception;
    std::vector<Frame> outer_frames;  // Of the process that re-raised a worker's exception.
    std::vector<Frame> first_frames;  // Of the first exception of a chain.
    std::size_t indent = 0;           // Of the word "Traceback".
    int message_lines = 0;
    int links = 0;  // Exceptions of the chain so far.
    bool worker = false;
    bool orphan = false;   // The header line was lost.
    bool logged = false;   // Printed through a logger.
    bool ignored = false;  // The line before said that it ends nothing.
  };

  Open& OpenFor(const PeeledLine& line);
  bool Begin(Open& open, const PeeledLine& line, std::string_view text, std::int64_t number);
  bool PushFrame(Open& open, std::string_view text, std::int64_t number);
  bool PushMessage(Open& open, const PeeledLine& line, std::string_view text, std::int64_t number);
  void SetType(Open& open, std::string_view text, std::int64_t number);
  void Close(Open& open);

  std::string file_;
  std::vector<Open> open_;
  std::vector<PrintedException> finished_;
};

/// The last line of a traceback by itself: "KeyError: 'x'". Nullopt: it is none.
std::optional<ExceptionSeen> ReadBareException(std::string_view body, Place place);

/// `  File "train.py", line 3` and no function: Python could not read the program.
bool IsRefusalOfPython(std::string_view body);

/// Is a frame of the user's own code, not of the standard library, an installed package or a frozen
/// module?
bool IsUsersOwnFile(std::string_view file);

}  // namespace whystop
