#include "view/log_lines.h"

#include <algorithm>

#include "base/fd.h"
#include "base/shown_text.h"

namespace whystop {
namespace {

constexpr std::size_t kLineBytesShown = 600;
constexpr std::size_t kLinesAroundMax = 400;
constexpr std::size_t kSourceBytesMax = 4 << 20;
constexpr std::int64_t kSourceLinesAround = 6;

}  // namespace

bool LogLines::IsNearMark(std::int64_t number) const {
  const auto next = excerpt_.marked.lower_bound(number - kLinesAround);
  return next != excerpt_.marked.end() && *next <= number + kLinesAround;
}

void LogLines::OnLine(const LogLine& line) {
  std::string text = ShownText(line.text, kLineBytesShown);
  if (IsNearMark(line.number) &&
      (around_.size() < kLinesAroundMax || around_.contains(line.number))) {
    around_[line.number] = text;
  }
  if (!end_.empty() && end_.back().number == line.number) {
    end_.back().text = std::move(text);
    return;
  }
  end_.push_back({line.number, std::move(text)});
  if (end_.size() > kLinesAtEnd) {
    dropped_to_ = end_.front().number;
    end_.pop_front();
  }
}

bool LogLines::Holds(std::int64_t line) const {
  return line > dropped_to_ || around_.contains(line);
}

Excerpt LogLines::Now() const {
  Excerpt out = excerpt_;
  for (const auto& [number, text] : around_) {
    if (end_.empty() || number < end_.front().number) {
      out.lines.push_back({number, text});
    }
  }
  out.lines.insert(out.lines.end(), end_.begin(), end_.end());
  return out;
}

Excerpt LogLines::Finish() {
  splitter_.Finish();
  return Now();
}

Excerpt SourceAround(const std::string& path, std::int64_t line) {
  Excerpt out;
  out.file = path;
  const auto text = ReadFile(path, kSourceBytesMax);
  if (!text || line <= 0) {
    return out;
  }
  std::int64_t number = 1;
  std::string_view rest = *text;
  while (!rest.empty() && number <= line + kSourceLinesAround) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    if (number >= line - kSourceLinesAround) {
      out.lines.push_back({number, ShownText(rest.substr(0, end), kLineBytesShown)});
    }
    rest.remove_prefix(std::min(end + 1, rest.size()));
    ++number;
  }
  if (number <= line) {
    out.lines.clear();  // The file is shorter than that: it is another one now.
  } else {
    out.marked = {line};
  }
  return out;
}

}  // namespace whystop
