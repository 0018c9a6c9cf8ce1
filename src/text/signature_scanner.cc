#include "text/signature_scanner.h"

#include <algorithm>

#include "text/prefix.h"

namespace whystop {

void SignatureScanner::Feed(std::string_view bytes) {
  const std::size_t last = bytes.rfind('\n');
  if (last == std::string_view::npos) {
    carry_.append(bytes);
    if (carry_.size() > kCarryBytesMax) {
      Scan(carry_);
      carry_.clear();
    }
    return;
  }
  std::string_view whole = bytes.substr(0, last + 1);
  if (!carry_.empty()) {
    const std::size_t first = whole.find('\n');
    carry_.append(whole.substr(0, first));
    Scan(carry_);
    carry_.clear();
    whole.remove_prefix(first + 1);
  }
  Scan(whole);
  carry_.assign(bytes.substr(last + 1));
}

void SignatureScanner::Finish() {
  Scan(carry_);
  carry_.clear();
}

void SignatureScanner::Scan(std::string_view lines) {
  std::size_t at = matcher_.NextCandidate(lines, 0);
  while (at != std::string_view::npos) {
    const std::size_t before = lines.find_last_of("\r\n", at);
    const std::size_t start = before == std::string_view::npos ? 0 : before + 1;
    const std::size_t end = std::min(lines.find_first_of("\r\n", at), lines.size());
    const std::string_view line = lines.substr(start, end - start);
    const std::vector<SignatureMatcher::Match> matches = matcher_.MatchLine(PeelPrefix(line).body);
    if (!matches.empty()) {
      out_.OnMatch(line, matches);
    }
    at = matcher_.NextCandidate(lines, end);
  }
}

}  // namespace whystop
