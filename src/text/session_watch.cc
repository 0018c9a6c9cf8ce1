#include "text/session_watch.h"

#include <algorithm>
#include <cctype>

#include "base/parse.h"

namespace whystop {
namespace {

constexpr std::size_t kFirstLines = 12;
constexpr std::int64_t kLinesWatched = 5000;  // For repetition within a run.

std::uint64_t Shape(std::string_view text) {
  std::uint64_t hash = 0xCBF29CE484222325ULL;
  for (const char letter : text.substr(0, 160)) {
    if (letter < '0' || letter > '9') {
      hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001B3ULL;
    }
  }
  return hash;
}

/// Lines that come again in the middle of a run; rules of dashes say nothing at all.
bool IsNoMark(std::string_view text) {
  if (std::none_of(text.begin(), text.end(), [](unsigned char letter) { return std::isalpha(letter) != 0; })) {
    return true;
  }
  for (const std::string_view word :
       {"most recent call last", "loss", "Loss", "poch", "step", "it/s"}) {
    if (text.find(word) != std::string_view::npos) {
      return true;
    }
  }
  return false;
}

}  // namespace

bool SessionWatch::IsFirstLineAgain(const PeeledLine& line) {
  const bool ended = failed_ || completed_;
  if (line.body.size() < 16 || line.body[0] == ' ' || (!ended && ++lines_ > kLinesWatched)) {
    return false;
  }
  const std::uint64_t shape = Shape(line.body);
  const auto known = first_lines_.find(shape);
  if ((known == first_lines_.end() && (ended || first_lines_.size() >= kFirstLines)) ||
      IsNoMark(line.body)) {
    return false;
  }
  if (!ended) {
    if (known != first_lines_.end()) {
      known->second.usable = known->second.usable && known->second.session != session_;
      known->second.session = session_;
    } else if (first_lines_.size() < kFirstLines) {
      first_lines_.emplace(shape, Mark{.session = session_, .usable = true});
    }
    return false;
  }
  if (known == first_lines_.end() || !known->second.usable) {
    return false;
  }
  // After success a framework may repeat a banner for its last validation; three of them are a new
  // run.
  return failed_ || ++again_ >= 3;
}

const char* SessionWatch::Push(const PeeledLine& line, bool opening) {
  const std::string_view body = line.body;
  // "PS:" and "Read file <job.err> for stderr output of this job." still belong to the report.
  const bool postscript = Trim(body) == "PS:" || body.starts_with("Read file <");
  if (report_above_ && !Trim(body).empty() && !body.starts_with("```") && !postscript) {
    report_above_ = false;
    return "after an LSF job report";
  }
  if (body.starts_with("The output (if any) is above this job summary")) {
    report_above_ = true;
    in_report_ = false;
    return nullptr;
  }
  if (body.starts_with("The output (if any) follows")) {
    report_first_ = true;
    in_report_ = false;
    return nullptr;
  }
  if (body.starts_with("Sender: LSF System")) {
    in_report_ = true;
    return report_first_ ? "LSF job report" : nullptr;
  }
  if (in_report_) {
    return nullptr;  // The same words for every job, and no job's first lines.
  }
  if (opening && (trained_ || failed_ || completed_)) {
    return "a start message";
  }
  return IsFirstLineAgain(line) ? "the first lines of the run again" : nullptr;
}

void SessionWatch::Reset() {
  failed_ = false;
  completed_ = false;
  again_ = 0;
  trained_ = false;
  ++session_;
  lines_ = 0;
}

}  // namespace whystop
