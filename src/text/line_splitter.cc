#include "text/line_splitter.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "text/terminal_text.h"
#include "text/utf16.h"
#include "text/wrapped_text.h"

namespace whystop {
namespace {

bool IsControl(char letter) { return static_cast<unsigned char>(letter) < 0x20 && letter != '\t'; }

// Sixteen bytes at once, in the terms of both compilers instead of one processor's.
using Block = unsigned char __attribute__((vector_size(16)));

/// Where the first byte below 0x20 other than tab stands, or npos: something has to be cut or
/// cleaned there.
std::size_t FindControl(std::string_view text) {
  std::size_t at = 0;
  for (; at + sizeof(Block) <= text.size(); at += sizeof(Block)) {
    Block block;
    std::memcpy(&block, text.data() + at, sizeof block);
    const auto found = (block < 0x20) & (block != '\t');
    std::uint64_t halves[2];
    std::memcpy(halves, &found, sizeof halves);
    if ((halves[0] | halves[1]) != 0) {
      const int bits =
          halves[0] != 0 ? std::countr_zero(halves[0]) : 64 + std::countr_zero(halves[1]);
      return at + static_cast<std::size_t>(bits / 8);
    }
  }
  const auto found =
      std::find_if(text.begin() + static_cast<std::ptrdiff_t>(at), text.end(), IsControl);
  return found == text.end() ? std::string_view::npos
                             : static_cast<std::size_t>(found - text.begin());
}

}  // namespace

void LineSplitter::Feed(std::string_view bytes) {
  if (encoding_ == Encoding::kUnknown) {
    start_.append(bytes);
    if (start_.size() < 3) {
      return;  // A byte order mark has up to three bytes.
    }
    const std::string first = std::move(start_);
    std::string_view rest = first;
    encoding_ = Encoding::kBytes;
    if (rest.starts_with("\xFF\xFE")) {
      encoding_ = Encoding::kUtf16Little;
      rest.remove_prefix(2);
    } else if (rest.starts_with("\xFE\xFF")) {
      encoding_ = Encoding::kUtf16Big;
      rest.remove_prefix(2);
    } else if (rest.starts_with("\xEF\xBB\xBF")) {
      rest.remove_prefix(3);
    }
    Feed(rest);
    return;
  }
  if (encoding_ == Encoding::kBytes) {
    FeedText(bytes);
  } else {
    FeedWide(bytes);
  }
}

void LineSplitter::FeedWide(std::string_view bytes) {
  wide_carry_.append(bytes);
  const std::size_t used = DecodeUtf16(wide_carry_, encoding_ == Encoding::kUtf16Big, wide_text_);
  wide_carry_.erase(0, used);
  TakeWideText(false);
}

/// Windows writes UTF-16 where PowerShell redirects a program's output; its records are put together again here.
void LineSplitter::TakeWideText(bool over) {
  constexpr std::size_t kWidthBytes = 256 << 10;
  constexpr std::size_t kAheadBytes = 4 << 10;  // Of a line and its parts.
  if (!width_known_) {
    if (!over && wide_text_.size() < kWidthBytes) {
      return;
    }
    // Of the same bytes, however they came.
    wrap_width_ = FindWrapWidth(std::string_view(wide_text_).substr(0, kWidthBytes));
    width_known_ = true;
  }
  std::string_view rest = wide_text_;
  if (wrap_width_ == 0) {
    FeedText(rest);
    wide_text_.clear();
    return;
  }
  while (!rest.empty() && (over || rest.size() > kAheadBytes)) {
    std::string whole;
    std::int64_t joined = 0;
    std::size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    bool broken = end < rest.size();
    rest.remove_prefix(std::min(rest.size(), end + 1));
    for (;;) {
      end = std::min(rest.find('\n'), rest.size());
      const std::string_view next = rest.substr(0, end);
      if (!broken || whole.size() > kLineBytesMax || !GoesOnInNextLine(line, next, wrap_width_)) {
        break;
      }
      whole.append(line.ends_with('\r') ? line.substr(0, line.size() - 1) : line);
      ++joined;
      line = next;
      broken = end < rest.size();
      rest.remove_prefix(std::min(rest.size(), end + 1));
    }
    whole.append(line);
    FeedText(broken ? whole + '\n' : whole);
    number_ += joined;
  }
  wide_text_.erase(0, wide_text_.size() - rest.size());
}

void LineSplitter::FeedText(std::string_view bytes) {
  while (!bytes.empty()) {
    std::size_t size = FindControl(bytes);
    if (size == std::string_view::npos) {
      break;
    }
    // Most lines have nothing but their end to be cut at.
    if (bytes[size] == '\n' && size > 0 && size < kLineBytesMax && carry_.empty() && !in_pieces_) {
      after_return_ = false;
      Emit(bytes.substr(0, size));
    } else {
      size = bytes.find('\n', size);
      if (size == std::string_view::npos) {
        break;
      }
      EndLine(bytes.substr(0, size));
    }
    ++number_;
    bytes.remove_prefix(size + 1);
  }
  // A file of one line with a thousand redraws must not pile up: \r ends a line as well.
  for (std::size_t at = bytes.find('\r'); at != std::string_view::npos; at = bytes.find('\r')) {
    carry_.append(bytes.substr(0, at));
    const std::string unit = std::move(carry_);
    carry_.clear();
    TakeUnit(unit, '\r');
    bytes.remove_prefix(at + 1);
  }
  while (carry_.size() + bytes.size() >= kLineBytesMax) {
    const std::size_t fill = kLineBytesMax - carry_.size();
    carry_.append(bytes.substr(0, fill));
    bytes.remove_prefix(fill);
    TakePiece(carry_);
    carry_.clear();
    in_pieces_ = true;
  }
  carry_.append(bytes);
}

/// `rest` and what was carried over are all of a line up to its \n; there may be \r in it.
void LineSplitter::EndLine(std::string_view rest) {
  std::string joined;
  if (!carry_.empty()) {
    joined = std::move(carry_);
    carry_.clear();
    joined.append(rest);
    rest = joined;
  }
  for (std::size_t at = rest.find('\r'); at != std::string_view::npos; at = rest.find('\r')) {
    TakeUnit(rest.substr(0, at), '\r');
    rest.remove_prefix(at + 1);
  }
  TakeUnit(rest, '\n');
}

void LineSplitter::TakeUnit(std::string_view unit, char end) {
  const bool blank = unit.empty() && !in_pieces_;
  while (!unit.empty()) {
    TakePiece(unit.substr(0, kLineBytesMax));
    unit.remove_prefix(std::min(unit.size(), kLineBytesMax));
  }
  if (blank && end == '\n' && !after_return_) {
    out_.OnLine({.text = {}, .number = number_});
  }
  in_pieces_ = false;
  after_return_ = end == '\r';
}

void LineSplitter::TakePiece(std::string_view piece) {
  while (!piece.empty()) {
    const std::size_t nul = piece.find('\0');
    const std::string_view text = piece.substr(0, nul);
    if (FindControl(text) == std::string_view::npos) {
      if (!text.empty()) {
        Emit(text);
      }
    } else {
      clean_.clear();
      CleanTerminalText(text, clean_);
      Emit(clean_);
    }
    if (nul == std::string_view::npos) {
      return;
    }
    const std::size_t end = piece.find_first_not_of('\0', nul);
    nul_bytes_ += static_cast<std::int64_t>(std::min(end, piece.size()) - nul);
    piece.remove_prefix(std::min(end, piece.size()));
  }
}

void LineSplitter::Emit(std::string_view text) {
  if (nul_bytes_ > 0 && text.find_first_not_of(" \t") != std::string_view::npos) {
    out_.OnNulRun(nul_bytes_, number_);
    nul_bytes_ = 0;
  }
  out_.OnLine({.text = text, .number = number_});
}

void LineSplitter::Finish() {
  if (encoding_ == Encoding::kUnknown) {
    encoding_ = Encoding::kBytes;
    FeedText(start_);
    start_.clear();
  }
  if (!wide_text_.empty()) {
    TakeWideText(true);
  }
  ended_mid_line_ = in_pieces_ || carry_.find_first_not_of('\0') != std::string::npos;
  const std::string unit = std::move(carry_);
  carry_.clear();
  if (!unit.empty()) {
    TakeUnit(unit, '\r');
  }
}

}  // namespace whystop
