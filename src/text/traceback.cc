#include "text/traceback.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/parse.h"
#include "base/shown_text.h"
#include "text/metric_line.h"
#include "text/number.h"
#include "text/terminal_text.h"

namespace whystop {
namespace {

constexpr std::string_view kHeader = "Traceback (most recent call last)";
constexpr std::size_t kFramesMax = 64;  // The first and the last of a deep stack are kept.
constexpr std::size_t kMessageBytesMax = 2000;
constexpr int kMessageLinesMax = 16;
constexpr std::size_t kOpenMax = 32;  // Ranks that print at the same time.

std::size_t Indent(std::string_view text) {
  return std::min(text.find_first_not_of(' '), text.size());
}

/// Exception groups draw a margin: "  | ", "  +-+---------------- 1 ----------------".
std::string_view WithoutMargin(std::string_view text) {
  const std::size_t bar = text.find_first_not_of(' ');
  if (bar == std::string_view::npos || (text[bar] != '|' && text[bar] != '+')) {
    return text;
  }
  if (text[bar] == '+' && !text.substr(bar).starts_with("+ Exception Group")) {
    return text;
  }
  text.remove_prefix(bar + 1);
  return text.starts_with(' ') ? text.substr(1) : text;
}

/// `File "x.py", line 3, in f`; the function may be missing (SyntaxError).
std::optional<Frame> ParseFrame(std::string_view text) {
  constexpr std::string_view kFile = "File \"";
  text = Trim(text);
  const std::size_t end = text.find("\", line ");
  if (!text.starts_with(kFile) || end == std::string_view::npos) {
    return std::nullopt;
  }
  Frame frame;
  frame.file = ShownText(text.substr(kFile.size(), end - kFile.size()), 512);
  std::string_view rest = text.substr(end + 8);
  const auto [stop, fault] = std::from_chars(rest.data(), rest.data() + rest.size(), frame.line);
  if (fault != std::errc{}) {
    return std::nullopt;
  }
  rest.remove_prefix(static_cast<std::size_t>(stop - rest.data()));
  if (rest.starts_with(", in ")) {
    frame.function = ShownText(rest.substr(5), 256);
  }
  frame.users_own = IsUsersOwnFile(frame.file);
  return frame;
}

/// The `rich` library draws tracebacks in a box: "\u2502 /home/me/train.py:12 in main   \u2502".
std::optional<Frame> ParseBoxedFrame(std::string_view text) {
  text = Trim(text.substr(std::min<std::size_t>(3, text.size())));
  const std::size_t in = text.find(" in ");
  const std::size_t colon = in == std::string_view::npos ? in : text.rfind(':', in);
  if (colon == std::string_view::npos ||
      text.substr(0, colon).find(".py") == std::string_view::npos) {
    return std::nullopt;
  }
  const std::optional<std::int64_t> line =
      ParseWhole<std::int64_t>(text.substr(colon + 1, in - colon - 1));
  if (!line) {
    return std::nullopt;
  }
  const std::string_view rest = text.substr(in + 4);
  Frame frame;
  frame.file = ShownText(text.substr(0, colon), 512);
  frame.line = *line;
  frame.function = ShownText(rest.substr(0, rest.find(' ')), 256);
  frame.users_own = IsUsersOwnFile(frame.file);
  return frame;
}

/// "torch.OutOfMemoryError: CUDA out of memory" or "KeyboardInterrupt": a dotted name, then a colon
/// or nothing. Names of exceptions start their last part with a capital letter by custom; a plain
/// word is prose.
bool IsExceptionLine(std::string_view text, std::string_view& type, std::string_view& message) {
  const std::size_t end =
      text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.");
  type = text.substr(0, end);
  if (type.empty() || (type[0] >= '0' && type[0] <= '9')) {
    return false;
  }
  const std::size_t dot = type.rfind('.');
  const char first = dot == std::string_view::npos ? type[0]
                     : dot + 1 < type.size()       ? type[dot + 1]
                                                   : ' ';
  if (end != std::string_view::npos && text[end] != ':' && Trim(text.substr(end)) != "") {
    return false;
  }
  message = end == std::string_view::npos ? std::string_view() : Trim(text.substr(end + 1));
  return (first >= 'A' && first <= 'Z') || dot != std::string_view::npos;
}

bool NamesAnError(std::string_view type) {
  for (const std::string_view end :
       {"Error", "Exception", "Interrupt", "Exit", "Warning", "StopIteration"}) {
    if (type.ends_with(end)) {
      return true;
    }
  }
  return false;
}

/// Launchers and trackers speak after the program did.
bool IsOtherSpeaker(std::string_view text) {
  for (const std::string_view start :
       {"slurmstepd:", "srun:", "wandb:", "nohup:", "mpirun", "[rank", "Sender: LSF"}) {
    if (text.starts_with(start)) {
      return true;
    }
  }
  return false;
}

bool IsChainPhrase(std::string_view text) {
  return text.find("During handling of the above exception, another exception occurred") !=
             std::string_view::npos ||
         text.find("The above exception was the direct cause of the following exception") !=
             std::string_view::npos;
}

/// A letter that no line break, blank or sign of a logger follows: the line before was cut off.
bool EndsInMidLine(char last) {
  return (last >= '0' && last <= '9') || (last >= 'a' && last <= 'z') ||
         (last >= 'A' && last <= 'Z') || last == '.' || last == '=' || last == ',';
}

/// A line of figures is no part of a message: the program's own output goes on.
bool IsMetricRow(std::string_view content) {
  MetricLine row;
  return LexMetricLine(content, row) && row.has_counter() && !row.values.empty();
}

/// Someone lost patience with a program that was ending already: with its exit handlers, or with a
/// process that they wait for.
bool InterruptedAtExit(const ExceptionSeen& seen) {
  return seen.type == "KeyboardInterrupt" && !seen.first_type.empty() &&
         std::any_of(seen.frames.begin(), seen.frames.end(), [](const Frame& frame) {
           return frame.function == "_exit_function" || frame.function == "_shutdown" ||
                  frame.function == "_run_exitfuncs";
         });
}

/// It began in a thread beside the main one, and ended only that. Where several print at once, the line that says so
/// ("Exception in thread Thread-1:") stands elsewhere.
bool IsOfAThread(const ExceptionSeen& seen) {
  return !seen.frames.empty() && seen.frames.front().file.ends_with("threading.py") &&
         seen.frames.front().function.starts_with("_bootstrap");
}

/// Paddle tells a signal in the dress of an exception, below a "C++ Traceback": nothing was raised.
bool IsOfASignal(const ExceptionSeen& seen) {
  return seen.type == "FatalError" && seen.message.find("is detected by the operating system") != std::string::npos;
}

void KeepFrame(std::vector<Frame>& frames, Frame frame) {
  if (frames.size() == kFramesMax) {
    frames.erase(frames.begin() + kFramesMax / 2);
  }
  frames.push_back(std::move(frame));
}

}  // namespace

bool AnnouncesToldException(std::string_view body) {
  if (!body.starts_with('E') && !body.starts_with('-')) {
    return false;
  }
  for (const std::string_view start : {"Exception ignored in", "Exception in thread ",
                                       "Error in atexit._run_exitfuncs", "--- Logging error ---"}) {
    if (body.starts_with(start)) {
      return true;
    }
  }
  return false;
}

std::optional<ExceptionSeen> ReadBareException(std::string_view body, Place place) {
  std::string_view type;
  std::string_view message;
  if (!IsExceptionLine(body, type, message) || !NamesAnError(type)) {
    return std::nullopt;
  }
  // "TestError: 0.25" is a figure; a key may be a number.
  if (ReadNumber(message) && type != "KeyError") {
    return std::nullopt;
  }
  ExceptionSeen seen;
  seen.type = std::string(type);
  seen.message = ShownText(message, kMessageBytesMax);
  seen.last_line = place.line;
  seen.place = std::move(place);
  return seen;
}

bool IsRefusalOfPython(std::string_view body) {
  const std::optional<Frame> frame = body.starts_with("  File \"") ? ParseFrame(body) : std::nullopt;
  return frame && frame->function.empty();
}

bool IsUsersOwnFile(std::string_view file) {
  for (const std::string_view foreign :
       {"site-packages", "dist-packages", "/lib/python", "\\lib\\", "\\Lib\\", "<frozen",
        "<string>", "<__array_function__", "/usr/lib/", "/torch_extensions/", "/torchinductor_",
        "<eval_with_key>", "__autograph_generated_file"}) {
    if (file.find(foreign) != std::string_view::npos) {
      return false;
    }
  }
  return !file.empty();
}

TracebackReader::Open& TracebackReader::OpenFor(const PeeledLine& line) {
  for (Open& open : open_) {
    if (open.rank == line.rank) {
      return open;
    }
  }
  if (open_.size() == kOpenMax) {
    Close(open_.front());
    open_.erase(open_.begin());
  }
  open_.emplace_back();
  open_.back().rank = line.rank;
  return open_.back();
}

bool TracebackReader::Push(const PeeledLine& line, std::int64_t number) {
  const std::string_view text = WithoutMargin(line.body);
  const std::size_t header = text.find(kHeader);
  const bool orphan = header == std::string_view::npos && text.starts_with("  File \"") &&
                      ParseFrame(text).has_value();
  if (header == std::string_view::npos && open_.empty() && !orphan &&
      !AnnouncesToldException(text)) {
    return false;  // The way of nearly every line.
  }
  Open& open = OpenFor(line);
  if (AnnouncesToldException(text)) {
    Close(open);
    open.ignored = true;
    return true;
  }
  if (header != std::string_view::npos) {
    return Begin(open, line, text, number);
  }
  switch (open.state) {
    case State::kFrames:
      return PushFrame(open, text, number);
    case State::kMessage:
    case State::kGap:
    case State::kChained:
      return PushMessage(open, line, text, number);
    case State::kIdle:
      break;
  }
  if (orphan) {
    static_cast<void>(Begin(open, line, text, number));
    open.orphan = true;
    return PushFrame(open, text, number);
  }
  open.ignored = false;
  return false;
}

bool TracebackReader::Begin(Open& open, const PeeledLine& line, std::string_view text,
                            std::int64_t number) {
  const std::size_t header = std::min(text.find(kHeader), text.size());
  const bool original = text.substr(0, header).find("Original ") != std::string_view::npos;
  const bool nested = text.substr(0, header).find("Exception Group ") != std::string_view::npos ||
                      open.state == State::kChained;
  if (original && open.state == State::kMessage) {
    open.worker = true;
    open.exception.seen.in_worker =
        open.exception.seen.message.find("in DataLoader worker process") != std::string::npos;
    open.outer_frames = std::move(open.exception.seen.frames);
  } else if (!nested && open.state != State::kIdle) {
    Close(open);
  }
  if (open.state == State::kIdle) {
    open.exception.seen.place = {.file = file_, .line = number};
    open.exception.seen.rank = line.rank;
    open.logged = line.logged;
    open.exception.warned = open.ignored || (line.logged && line.level != LogLevel::kError &&
                                             line.level != LogLevel::kNone);
  }
  open.ignored = false;
  open.exception.glued = header > 0 && header < text.size() && EndsInMidLine(text[header - 1]);
  if (open.links == 1) {
    open.first_frames = std::move(open.exception.seen.frames);
  }
  open.exception.seen.frames.clear();
  open.state = State::kFrames;
  open.indent = original || header == text.size() ? 0 : Indent(text.substr(0, header));
  return true;
}

bool TracebackReader::PushFrame(Open& open, std::string_view text, std::int64_t number) {
  if (std::optional<Frame> frame = ParseFrame(text)) {
    KeepFrame(open.exception.seen.frames, *std::move(frame));
    return true;
  }
  const std::string_view content = Trim(text);
  if (content.empty()) {
    return true;
  }
  if (content.starts_with("\xE2\x94") || content.starts_with("\xE2\x95")) {
    if (std::optional<Frame> frame = ParseBoxedFrame(content)) {
      KeepFrame(open.exception.seen.frames, *std::move(frame));
    }
    return true;
  }
  if (Indent(text) > open.indent) {
    const bool carets = content.find_first_not_of("^~ ") == std::string_view::npos;
    std::vector<Frame>& frames = open.exception.seen.frames;
    if (!carets && !frames.empty() && frames.back().source.empty() &&
        !content.starts_with("[Previous line repeated")) {
      frames.back().source = ShownText(content, 300);
    }
    return true;
  }
  std::string_view type;
  std::string_view message;
  if (IsExceptionLine(content, type, message) && (!open.orphan || NamesAnError(type))) {
    SetType(open, content, number);
    return true;
  }
  // Neither a frame nor an exception: another writer's line in between, or the traceback broke off.
  if (++open.message_lines > kMessageLinesMax) {
    Close(open);
  }
  return false;
}

void TracebackReader::SetType(Open& open, std::string_view text, std::int64_t number) {
  std::string_view type;
  std::string_view message;
  static_cast<void>(IsExceptionLine(text, type, message));
  ExceptionSeen& seen = open.exception.seen;
  if (open.worker) {
    seen.first_type = std::string(type);
    seen.first_message = ShownText(message, kMessageBytesMax);
  } else {
    if (open.links > 0 && seen.first_type.empty()) {
      seen.first_type = seen.type;
      seen.first_message = seen.message;
    }
    seen.type = std::string(type);
    seen.message = ShownText(message, kMessageBytesMax);
  }
  ++open.links;
  open.message_lines = 0;
  open.state = State::kMessage;
  open.exception.seen.last_line = number;
}

/// After the exception's line: more of its message, a link of the chain, or something else.
bool TracebackReader::PushMessage(Open& open, const PeeledLine& line, std::string_view text,
                                  std::int64_t number) {
  const std::string_view content = Trim(text);
  if (IsOtherSpeaker(content) || (line.logged && !open.logged)) {
    Close(open);
    return false;
  }
  if (content.empty()) {
    open.state = open.state == State::kMessage ? State::kGap : open.state;
    return true;
  }
  if (IsChainPhrase(content)) {
    open.state = State::kChained;
    return true;
  }
  if (content == "\"\"\"") {
    return true;  // multiprocessing quotes the worker's traceback.
  }
  if (open.state == State::kGap || open.state == State::kChained) {
    Close(open);
    return false;
  }
  if (++open.message_lines > kMessageLinesMax || IsMetricRow(content)) {
    Close(open);
    return false;
  }
  std::string& message =
      open.worker ? open.exception.seen.first_message : open.exception.seen.message;
  if (message.size() + content.size() < kMessageBytesMax) {
    message += (message.empty() || content.starts_with(": ") ? "" : "\n") +
               ShownText(content, kMessageBytesMax);
  }
  open.exception.seen.last_line = number;
  return false;  // It may as well be a line of its own: let others look at it.
}

void TracebackReader::Close(Open& open) {
  if (open.links > 0 && !IsOfASignal(open.exception.seen)) {
    ExceptionSeen& seen = open.exception.seen;
    if (InterruptedAtExit(seen)) {
      seen.type = std::exchange(seen.first_type, {});
      seen.message = std::exchange(seen.first_message, {});
      seen.frames = std::move(open.first_frames);
    }
    if (seen.frames.empty()) {
      seen.frames = std::move(open.outer_frames);
    }
    open.exception.warned = open.exception.warned || IsOfAThread(seen);
    finished_.push_back(std::move(open.exception));
  }
  const std::optional<int> rank = open.rank;
  open = Open{};
  open.rank = rank;
}

std::vector<PrintedException> TracebackReader::TakeFinished() {
  std::erase_if(open_,
                [](const Open& open) { return open.state == State::kIdle && !open.ignored; });
  return std::exchange(finished_, {});
}

bool TracebackReader::HasOpenException() const {
  return std::any_of(open_.begin(), open_.end(),
                     [](const Open& open) { return open.links > 0 && !open.exception.warned; });
}

bool TracebackReader::InFrames() const {
  return std::any_of(open_.begin(), open_.end(),
                     [](const Open& open) { return open.state == State::kFrames; });
}

std::optional<Frame> TracebackReader::FirstFrame() const {
  for (const Open& open : open_) {
    const std::vector<Frame>& frames = open.exception.seen.frames;
    if (open.state == State::kFrames && open.links == 0 && frames.size() == 1 && frames[0].source.empty()) {
      return frames[0];
    }
  }
  return std::nullopt;
}

bool TracebackReader::MessageGoesOn() const {
  return std::any_of(open_.begin(), open_.end(), [](const Open& open) {
    const std::string& message = open.exception.seen.message;
    return open.state == State::kMessage &&
           (message.empty() || message.ends_with(':') || message.find('\n') != std::string::npos);
  });
}

void TracebackReader::EndMessages() {
  for (Open& open : open_) {
    if (open.state == State::kMessage || open.state == State::kGap) {
      Close(open);
    }
  }
}

void TracebackReader::Finish() {
  for (Open& open : open_) {
    Close(open);
  }
}

}  // namespace whystop
