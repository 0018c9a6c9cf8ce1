#include "sign/message_point.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/parse.h"
#include "base/shown_text.h"

namespace whystop {
namespace {

constexpr std::size_t kBytesMax = 320;
constexpr std::size_t kLineBytesMax = 150;  // Of each of several lines.
constexpr std::size_t kHeadBytes = 190;
constexpr std::size_t kTailBytes = 110;
constexpr std::size_t kLinesMax = 200;
constexpr std::size_t kItemsMax = 3;  // Of a list; more are counted.

// Lines that say it, wherever they stand: of torch.load and load_state_dict.
constexpr std::array<std::string_view, 4> kTelling = {"WeightsUnpickler error:", "Missing key(s)", "Unexpected key(s)", "size mismatch for"};

std::vector<std::string_view> LinesOf(std::string_view message) {
  std::vector<std::string_view> lines;
  while (!message.empty() && lines.size() < kLinesMax) {
    const std::string_view line = message.substr(0, message.find('\n'));
    message.remove_prefix(std::min(line.size() + 1, message.size()));
    if (!Trim(line).empty()) {
      lines.push_back(Trim(line));
    }
  }
  return lines;
}

/// Behind the quote that closes what opens at `at`; npos: none does.
std::size_t EndOfQuoted(std::string_view text, std::size_t at) {
  const char quote = text[at];
  const std::size_t end = text.find(quote, at + 1);
  return end == std::string_view::npos ? end : end + 1;
}

/// `"a", "b", "c", "d", "e"` as `"a", "b", "c" and 2 more`. Whatever stands behind a quoted name up to the comma belongs to it.
std::string WithShortLists(std::string_view line) {
  std::string out;
  std::size_t at = 0;
  while (at < line.size()) {
    if (line[at] != '"' && line[at] != '\'') {
      out += line[at++];
      continue;
    }
    std::size_t items = 0;
    std::size_t kept_end = at;
    std::size_t end = at;
    for (std::size_t from = at; from < line.size() && line[from] == line[at];) {
      const std::size_t quoted = EndOfQuoted(line, from);
      if (quoted == std::string_view::npos) {
        break;
      }
      const std::size_t next = line.find_first_of(",]})", quoted);
      const bool more = next != std::string_view::npos && next - quoted <= 16 && line.substr(next, 2) == ", " &&
                        next + 2 < line.size() && line[next + 2] == line[at];
      const bool closes = next != std::string_view::npos && next - quoted <= 16 && line[next] != ',';
      end = more || closes ? next : quoted;
      ++items;
      kept_end = items <= kItemsMax ? end : kept_end;
      if (!more) {
        break;
      }
      from = next + 2;
    }
    if (items == 0) {
      out += line[at++];
      continue;
    }
    out += line.substr(at, kept_end - at);
    out += items > kItemsMax ? fmt::format(" and {} more", items - kItemsMax) : std::string();
    at = end;
  }
  return out;
}

/// Its first sentence, or as many words as fit.
std::string Shortened(const std::string& line) {
  const std::size_t sentence = line.find(". ");
  if (line.size() <= kLineBytesMax) {
    return line;
  }
  return sentence < kLineBytesMax ? line.substr(0, sentence + 1) : line.substr(0, line.rfind(' ', kLineBytesMax)) + " ...";
}

bool IsTelling(std::string_view line) {
  return std::any_of(kTelling.begin(), kTelling.end(), [line](std::string_view known) { return line.starts_with(known); });
}

/// The lines to quote.
std::vector<std::string_view> Chosen(const std::vector<std::string_view>& lines) {
  for (std::size_t at = 0; at + 1 < lines.size(); ++at) {
    if (lines[at].starts_with("Node: '")) {
      return {lines[at + 1]};  // TensorFlow: behind the stack of the graph.
    }
  }
  std::vector<std::string_view> chosen = {lines.front()};
  for (const std::string_view line : lines) {
    if (chosen.size() < 4 && IsTelling(line) && line != lines.front()) {
      chosen.push_back(line);
    }
  }
  if (chosen.size() == 1 && lines.size() > 1) {
    chosen.push_back(lines[1]);  // The second often names what the first only announces.
  }
  return chosen;
}

}  // namespace

std::string PointOfMessage(std::string_view message) {
  const std::vector<std::string_view> lines = LinesOf(message);
  if (lines.empty()) {
    return "";
  }
  const std::vector<std::string_view> chosen = Chosen(lines);
  std::string text;
  for (const std::string_view line : chosen) {
    const std::string shown = WithShortLists(line);
    text += (text.empty() ? "" : "\n") + (chosen.size() > 1 ? Shortened(shown) : shown);
  }
  if (text.ends_with(':')) {
    text.pop_back();
  }
  if (chosen.size() == 1 && text.size() > kBytesMax) {
    std::size_t tail = text.size() - kTailBytes;
    tail = std::min(text.find(' ', tail), tail + kTailBytes / 2);
    const std::size_t blank = text.rfind(' ', kHeadBytes);
    text = text.substr(0, blank == std::string::npos || blank == 0 ? kHeadBytes : blank) + " ..." + text.substr(tail);
  }
  return ShownText(text, kBytesMax + 2 * kLineBytesMax);
}

}  // namespace whystop
