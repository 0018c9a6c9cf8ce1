#include "text/prefix.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "text/letters.h"
#include "text/metric_line.h"

namespace whystop {
namespace {

constexpr std::size_t kPeelBytesMax = 96;  // A prefix part longer than this is no prefix.

bool IsDigit(char letter) { return IsOf(letter, kLetterDigit); }
bool IsLetter(char letter) { return IsOf(letter, kLetterAlpha); }

std::size_t DigitsAt(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && IsDigit(text[end])) {
    ++end;
  }
  return end - at;
}

std::optional<int> Number(std::string_view digits) {
  int value = 0;
  const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return fault == std::errc{} && end == digits.data() + digits.size() ? std::optional<int>(value)
                                                                      : std::nullopt;
}

void DropOneSpace(std::string_view& text) {
  if (text.starts_with(' ')) {
    text.remove_prefix(1);
  }
}

/// "[rank3]: ", "[rank: 3] ", "[Rank 3] ", "[default0]:".
bool PeelRank(std::string_view& text, PeeledLine& out) {
  for (const std::string_view lead : {"[rank", "[Rank", "[RANK", "[default"}) {
    if (!text.starts_with(lead)) {
      continue;
    }
    std::size_t at = lead.size();
    at += text.substr(at).starts_with(": ") ? 2 : text.substr(at).starts_with(' ') ? 1 : 0;
    const std::size_t digits = DigitsAt(text, at);
    if (digits == 0 || digits > 5 || at + digits >= text.size() || text[at + digits] != ']') {
      return false;
    }
    out.rank = Number(text.substr(at, digits));
    text.remove_prefix(at + digits + 1);
    if (text.starts_with(':')) {
      text.remove_prefix(1);
    }
    DropOneSpace(text);
    return true;
  }
  return false;
}

/// srun --label: " 0: ", "14: ".
bool PeelTaskLabel(std::string_view& text, PeeledLine& out) {
  const std::size_t blanks = std::min(text.find_first_not_of(' '), text.size());
  const std::size_t digits = DigitsAt(text, blanks);
  const std::size_t colon = blanks + digits;
  if (blanks > 3 || digits == 0 || digits > 4 || colon >= text.size() || text[colon] != ':') {
    return false;
  }
  if (colon + 1 < text.size() && text[colon + 1] != ' ') {
    return false;
  }
  if (MetricLine count; ReadDarknetLine(text, count)) {
    return false;
  }
  out.rank = Number(text.substr(blanks, digits));
  text.remove_prefix(colon + 1);
  DropOneSpace(text);
  return true;
}

/// mpirun --tag-output: "[1,3]<stderr>:".
bool PeelMpiTag(std::string_view& text, PeeledLine& out) {
  const std::size_t job = DigitsAt(text, 1);
  const std::size_t comma = 1 + job;
  if (job == 0 || comma >= text.size() || text[comma] != ',') {
    return false;
  }
  const std::size_t digits = DigitsAt(text, comma + 1);
  const std::size_t end = comma + 1 + digits;
  for (const std::string_view stream : {"]<stderr>:", "]<stdout>:"}) {
    if (digits > 0 && text.substr(std::min(end, text.size())).starts_with(stream)) {
      out.rank = Number(text.substr(comma + 1, digits));
      text.remove_prefix(end + stream.size());
      return true;
    }
  }
  return false;
}

/// kubectl logs --prefix: "[pod/trainer-0/pytorch] ".
bool PeelPod(std::string_view& text) {
  const std::size_t end = text.substr(0, 2 * kPeelBytesMax).find("] ");
  if (!text.starts_with("[pod/") || end == std::string_view::npos) {
    return false;
  }
  text.remove_prefix(end + 2);
  return true;
}

/// docker compose: "trainer_1  | ", "trainer-1  | ".
bool PeelService(std::string_view& text) {
  const std::string_view head = text.substr(0, 64);
  const std::size_t bar = head.find("| ");
  if (bar == std::string_view::npos || bar < 4 || head[bar - 1] != ' ') {
    return false;
  }
  const std::string_view name = head.substr(0, head.find_last_not_of(' ', bar - 1) + 1);
  const std::size_t number = name.find_last_not_of("0123456789");
  if (number == std::string_view::npos || number + 1 == name.size() ||
      (name[number] != '-' && name[number] != '_') ||
      !std::all_of(name.begin(), name.end(), [](char letter) {
        return IsOf(letter, kLetterWord) || letter == '-' || letter == '.';
      })) {
    return false;
  }
  text.remove_prefix(bar + 2);
  return true;
}

/// Ray: "(TaskRunner pid=4242) ", "(train pid=12, ip=10.0.0.1) ".
bool PeelActor(std::string_view& text) {
  const std::string_view head = text.substr(0, kPeelBytesMax);
  const std::size_t end = head.find(") ");
  if (!text.starts_with('(') || end == std::string_view::npos ||
      head.substr(0, end).find("pid=") == head.npos) {
    return false;
  }
  text.remove_prefix(end + 2);
  return true;
}

/// Length of a time stamp at the start: digits parted by the signs of dates and times, with at
/// least one clock time.
std::size_t StampSize(std::string_view text) {
  std::size_t at = 0;
  std::size_t digits = 0;
  std::size_t colons = 0;
  while (at < text.size() && at < 40) {
    const char letter = text[at];
    if (IsDigit(letter)) {
      ++digits;
    } else if (letter == ':' && at + 1 < text.size() && IsDigit(text[at + 1])) {
      ++colons;
    } else if (letter == 'T' || letter == ' ' || letter == ',' || letter == '.' || letter == '/' ||
               letter == '-' || letter == '+') {
      if (at + 1 >= text.size() || !IsDigit(text[at + 1])) {
        break;
      }
    } else if (letter != 'Z') {
      break;
    }
    ++at;
  }
  return colons >= 1 && digits >= 6 ? at : 0;
}

bool PeelStamp(std::string_view& text) {
  const bool bracket = text.starts_with('[');
  const std::size_t start = bracket ? 1 : 0;
  if (start >= text.size() || !IsDigit(text[start])) {
    return false;
  }
  const std::size_t size = StampSize(text.substr(start));
  if (size == 0) {
    return false;
  }
  std::string_view rest = text.substr(start + size);
  if (bracket) {
    // "[02/12 06:57:59 d2.engine.train_loop]: " names the module inside the brackets.
    const std::size_t end = rest.substr(0, kPeelBytesMax).find(']');
    if (end == std::string_view::npos) {
      return false;
    }
    rest.remove_prefix(end + 1);
  }
  if (rest.starts_with(':')) {
    rest.remove_prefix(1);
  }
  DropOneSpace(rest);
  for (const std::string_view part : {"- ", "| "}) {
    if (rest.starts_with(part)) {
      rest.remove_prefix(part.size());
    }
  }
  text = rest;
  return true;
}

struct LevelName {
  std::string_view name;
  LogLevel level;
};
constexpr std::array<LevelName, 11> kLevels = {{{"DEBUG", LogLevel::kDebug},
                                                {"INFO", LogLevel::kInfo},
                                                {"WARNING", LogLevel::kWarning},
                                                {"WARN", LogLevel::kWarning},
                                                {"ERROR", LogLevel::kError},
                                                {"CRITICAL", LogLevel::kError},
                                                {"FATAL", LogLevel::kError},
                                                {"I ", LogLevel::kInfo},
                                                {"W ", LogLevel::kWarning},
                                                {"E ", LogLevel::kError},
                                                {"D ", LogLevel::kDebug}}};

struct LevelAt {
  std::size_t at = 0;
  std::size_t end = 0;
  LogLevel level = LogLevel::kNone;
};

/// The first level's name in the head of a line, with nothing but names and signs before it.
std::optional<LevelAt> FindLevel(std::string_view head, bool stamped) {
  const std::size_t limit = stamped ? head.size() : std::min<std::size_t>(2, head.size());
  int blanks = 0;
  for (std::size_t at = 0; at < limit; ++at) {
    const char letter = head[at];
    blanks += letter == ' ' ? 1 : 0;
    if (!IsOf(letter, kLetterWord) &&
        std::string_view(" .-|:[]/").find(letter) == std::string_view::npos) {
      return std::nullopt;
    }
    if (blanks > 6 || letter < 'C' || letter > 'W' || (at > 0 && IsLetter(head[at - 1]))) {
      if (blanks > 6) {
        return std::nullopt;
      }
      continue;
    }
    for (const LevelName& known : kLevels) {
      const bool letter_only =
          known.name.size() == 2;  // TensorFlow's single letters follow a time stamp only.
      if (known.name[0] != letter || (letter_only && !(stamped && at == 0)) ||
          !head.substr(at).starts_with(known.name)) {
        continue;
      }
      const std::size_t end = at + known.name.size();
      const char next = end < head.size() ? head[end] : ' ';
      if (letter_only || next == ']' || next == ':' || next == '|' || next == '-' || next == ' ') {
        return LevelAt{.at = at, .end = end, .level = known.level};
      }
    }
  }
  return std::nullopt;
}

/// "INFO - ", "INFO:name:", "[WARNING] ", "| INFO | module | ", "mmdet - INFO - ", "d2.utils.events
/// INFO: ".
bool PeelLevel(std::string_view& text, bool stamped, PeeledLine& out) {
  const std::optional<LevelAt> found = FindLevel(text.substr(0, kPeelBytesMax), stamped);
  if (!found) {
    return false;
  }
  std::string_view rest = text.substr(found->end);
  if (!stamped && rest.starts_with(' ') && !rest.starts_with(" - ") && !rest.starts_with(" | ") &&
      !rest.starts_with(" [")) {
    return false;  // "ERROR occurred" is prose.
  }
  const bool colon = rest.starts_with(':');
  for (const std::string_view part : {"]", ":", " - ", " | ", " "}) {
    if (rest.starts_with(part)) {
      rest.remove_prefix(part.size());
      break;
    }
  }
  if (colon && !rest.starts_with(' ')) {
    std::size_t name = 0;
    while (name < rest.size() && name < kPeelBytesMax &&
           (IsOf(rest[name], kLetterWord) || rest[name] == '.')) {
      ++name;
    }
    if (name > 0 && name < rest.size() && rest[name] == ':') {
      rest.remove_prefix(name + 1);  // Python's basic format: "INFO:module:message".
    }
  }
  DropOneSpace(rest);
  out.level = found->level;
  text = rest;
  return true;
}

/// glog and torch: "I0124 14:50:20.055000 76778 torch/_dynamo/utils.py:399] ", "[W124 14:24:02.33
/// File.cpp:12] ".
bool PeelGlog(std::string_view& text, PeeledLine& out) {
  const std::size_t start = text.starts_with('[') ? 1 : 0;
  if (text.size() < start + 8 ||
      std::string_view("IWE").find(text[start]) == std::string_view::npos) {
    return false;
  }
  const std::size_t digits = DigitsAt(text, start + 1);
  const std::size_t end = text.substr(0, 2 * kPeelBytesMax).find("] ");
  if (digits < 3 || digits > 4 || end == std::string_view::npos ||
      StampSize(text.substr(start + 1 + digits + 1)) == 0) {
    return false;
  }
  out.level = text[start] == 'I'   ? LogLevel::kInfo
              : text[start] == 'W' ? LogLevel::kWarning
                                   : LogLevel::kError;
  text.remove_prefix(end + 2);
  return true;
}

/// What stands between a level and the message: "[launch.py:347:main] ", "train_inner | ",
/// "pet.core.trainer - ",
/// "- 0:00:13 - ".
bool PeelModule(std::string_view& text) {
  const std::string_view head = text.substr(0, kPeelBytesMax);
  const std::size_t blank = head.find(' ');
  if (blank == std::string_view::npos || blank == 0) {
    return false;
  }
  if (head[0] == '[' && head[blank - 1] == ']' &&
      head.substr(0, blank).find(':') != std::string_view::npos) {
    text.remove_prefix(blank + 1);
    return true;
  }
  const std::string_view word = head.substr(0, blank);
  const bool name = std::all_of(word.begin(), word.end(), [](char letter) {
    return IsLetter(letter) || IsDigit(letter) || letter == '.' || letter == '_' || letter == ':';
  });
  if (name && (head.substr(blank).starts_with(" - ") || head.substr(blank).starts_with(" | "))) {
    text.remove_prefix(blank + 3);
    return true;
  }
  return false;
}

}  // namespace

PeeledLine PeelPrefix(std::string_view line) {
  PeeledLine out;
  std::string_view text = line;
  bool stamped = false;
  for (int round = 0; round < 6 && !text.empty(); ++round) {
    const char first = text[0];
    if (first == '[' && (PeelRank(text, out) || PeelMpiTag(text, out) || PeelPod(text))) {
      continue;
    }
    if (round == 0 && IsLetter(first) && PeelService(text)) {
      continue;
    }
    if (first == '(' && PeelActor(text)) {
      continue;
    }
    if ((first == '[' || IsDigit(first)) && PeelStamp(text)) {
      stamped = true;
      continue;
    }
    if (!out.rank && !stamped && (first == ' ' || IsDigit(first)) && PeelTaskLabel(text, out)) {
      continue;
    }
    if ((first == '[' || first == 'I' || first == 'W' || first == 'E') && PeelGlog(text, out)) {
      stamped = true;
      continue;
    }
    if (out.level == LogLevel::kNone && PeelLevel(text, stamped, out)) {
      stamped = true;
      continue;
    }
    if (out.level != LogLevel::kNone && PeelModule(text)) {
      continue;
    }
    break;
  }
  out.logged = stamped;
  out.body = text;
  return out;
}

}  // namespace whystop
