#include "text/bar.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

#include "base/parse.h"
#include "text/metric_line.h"

namespace whystop {
namespace {

constexpr std::size_t kBarBytesMax = 4096;

bool IsDigit(char letter) { return letter >= '0' && letter <= '9'; }

/// "12/340" in front of `end`; both parts whole numbers.
void ParseCount(std::string_view text, Bar& out) {
  text = Trim(text);
  const std::size_t blank = text.find_last_of(" |]\xB8\x8F");
  if (blank != std::string_view::npos) {
    text.remove_prefix(blank + 1);
  }
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) {
    if (text.ends_with("it")) {
      out.done_text = text.substr(0, text.size() - 2);
      out.done = ParseWhole<std::int64_t>(out.done_text);
    }
    return;
  }
  out.done_text = text.substr(0, slash);
  out.total_text = text.substr(slash + 1);
  out.done = ParseWhole<std::int64_t>(out.done_text);
  out.total = ParseWhole<std::int64_t>(out.total_text);
  if (!out.done || !out.total) {
    out.done.reset();
    out.total.reset();
  }
}

/// The "[00:12<00:34, 1.2it/s, loss=0.3]" of tqdm that starts at or after `from`: position of the
/// bracket, or npos.
std::size_t FindTimes(std::string_view line, std::size_t from) {
  for (std::size_t at = line.find('[', from); at != std::string_view::npos;
       at = line.find('[', at + 1)) {
    std::size_t end = at + 1;
    while (end < line.size() && (IsDigit(line[end]) || line[end] == ':')) {
      ++end;
    }
    const std::string_view times = line.substr(at + 1, end - at - 1);
    if (times.size() >= 5 && times.find(':') != std::string_view::npos && end < line.size() &&
        (line[end] == '<' || line[end] == ',' || line[end] == ']')) {
      return at;
    }
  }
  return std::string_view::npos;
}

/// A label is what stands before the percentage: "Epoch 3:  45%".
std::string_view LabelOf(std::string_view head) {
  while (!head.empty() && (IsDigit(head.back()) || head.back() == ' ' || head.back() == '.')) {
    const bool digit = IsDigit(head.back());
    head.remove_suffix(1);
    if (digit && !head.empty() && !IsDigit(head.back()) && head.back() != ' ' &&
        head.back() != '.') {
      break;
    }
  }
  head = Trim(head);
  return head.ends_with(':') ? Trim(head.substr(0, head.size() - 1)) : head;
}

std::optional<Bar> ParseTqdm(std::string_view line) {
  const std::size_t times = FindTimes(line, 0);
  if (times == std::string_view::npos) {
    return std::nullopt;
  }
  const std::size_t percent = line.substr(0, times).find('%');
  const std::size_t from = percent == std::string_view::npos ? 0 : percent;
  Bar bar;
  const std::string_view head = line.substr(0, times);
  ParseCount(head.substr(from), bar);
  const bool scaled = head.find('/') != std::string_view::npos;
  if (!bar.done && !scaled) {
    return std::nullopt;
  }
  if (percent != std::string_view::npos) {
    if (percent == 0 || !IsDigit(line[percent - 1])) {
      return std::nullopt;
    }
    bar.label = LabelOf(line.substr(0, percent));
  } else {
    const std::string_view count = Trim(head);
    const std::size_t colon = count.rfind(": ");
    bar.label = colon == std::string_view::npos ? std::string_view() : Trim(count.substr(0, colon));
  }
  const std::size_t end = line.find(']', times);
  bar.size = end == std::string_view::npos ? line.size() : end + 1;
  const std::string_view inside = line.substr(times, bar.size - times);
  const std::size_t rate = inside.find(", ");
  const std::size_t postfix = rate == std::string_view::npos ? rate : inside.find(", ", rate + 2);
  if (postfix != std::string_view::npos) {
    bar.postfix = inside.substr(postfix + 2);
    bar.postfix.remove_suffix(bar.postfix.ends_with(']') ? 1 : 0);
  }
  return bar;
}

/// mmcv: "[>>>>      ] 435/977, 0.7 task/s, elapsed: 620s, ETA:   772s".
std::optional<Bar> ParseMmcv(std::string_view line) {
  const std::size_t close = line.find("] ");
  const std::size_t tasks = line.find(" task/s, elapsed:");
  if (close == std::string_view::npos || tasks == std::string_view::npos || tasks < close) {
    return std::nullopt;
  }
  Bar bar;
  const std::string_view rest = line.substr(close + 2);
  ParseCount(rest.substr(0, rest.find(',')), bar);
  bar.label = "task";
  constexpr std::string_view kEta = "ETA:";
  const std::size_t eta = line.find(kEta, tasks);
  std::size_t end = eta == std::string_view::npos ? line.size() : eta + kEta.size();
  while (end < line.size() && (line[end] == ' ' || IsDigit(line[end]))) {
    ++end;
  }
  bar.size = std::min(line.size(), end + 1);
  return bar.done ? std::optional<Bar>(bar) : std::nullopt;
}

}  // namespace

std::optional<Bar> ParseBar(std::string_view line) {
  const std::size_t bracket = line.find('[');
  if (bracket == std::string_view::npos || bracket + 1 >= line.size()) {
    return std::nullopt;
  }
  if (line[bracket + 1] == '>' || (line[bracket + 1] == ' ' && bracket == 0)) {
    return ParseMmcv(line);
  }
  return ParseTqdm(line.substr(0, kBarBytesMax));  // Every tqdm bar has its times as "[mm:ss".
}

bool IsSideBar(std::string_view label_text) {
  static constexpr std::array<std::string_view, 27> kSideWords = {
      "load",   "download", "fetch",  "extract",    "map",     "filter",  "tokeniz",
      "eval",   "valid",    "test",   "saving",     "save",    "generat", "convert",
      "upload", "scan",     "cach",   "preprocess", "prepar",  "infer",   "predict",
      "task",   "deserial", "sanity", "read",       "writing", "comput"};
  std::string label(label_text.substr(0, 128));
  std::transform(label.begin(), label.end(), label.begin(), [](char letter) {
    return static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  });
  return std::any_of(kSideWords.begin(), kSideWords.end(), [&label](std::string_view word) {
    return label.find(word) != std::string::npos;
  });
}

BarLabel DescribeLabel(std::string_view label) {
  BarLabel out;
  out.side = IsSideBar(label);
  MetricLine counters;
  out.may_count = !label.empty() && (LexMetricLine(label, counters) || counters.by_value);
  for (const char letter : label.substr(0, 64)) {
    if (!IsDigit(letter)) {
      out.kind.push_back(letter);
    }
  }
  return out;
}

}  // namespace whystop
