#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace whystop {

/// One line as a person would see it: escapes, backspaces and NULs are gone. `text` is valid during
/// the call only.
struct LogLine {
  std::string_view text;
  std::int64_t number = 0;  // 1-based; all redraws of one line share its number.
};

class LineSink {
 public:
  virtual ~LineSink() = default;
  virtual void OnLine(const LogLine& line) = 0;
  /// A run of NUL bytes ended: text goes on after it.
  virtual void OnNulRun(std::int64_t bytes, std::int64_t line) = 0;
};

/// Cuts a byte stream into lines at \n, \r and NUL runs. However the bytes are chunked, the lines
/// are the same. Memory is bounded: a longer line than kLineBytesMax is handed out in pieces.
class LineSplitter {
 public:
  static constexpr std::size_t kLineBytesMax = 64 << 10;

  explicit LineSplitter(LineSink& out) : out_(out) {}
  void Feed(std::string_view bytes);
  /// Hands out what is left.
  void Finish();

  std::int64_t nul_tail_bytes() const { return nul_bytes_; }
  /// The stream stopped inside a line (what Finish handed out had no line break).
  bool ended_mid_line() const { return ended_mid_line_; }
  std::int64_t line_number() const { return number_; }

 private:
  enum class Encoding : std::uint8_t { kUnknown, kBytes, kUtf16Little, kUtf16Big };

  void FeedText(std::string_view bytes);
  void FeedWide(std::string_view bytes);
  void TakeWideText(bool over);
  void EndLine(std::string_view rest);
  void TakeUnit(std::string_view unit, char end);
  void TakePiece(std::string_view piece);
  void Emit(std::string_view text);

  LineSink& out_;
  Encoding encoding_ = Encoding::kUnknown;
  std::string start_;       // The first bytes, until they tell the encoding.
  std::string wide_carry_;  // Half of a UTF-16 character.
  std::string wide_text_;   // What was decoded and not yet handed out.
  bool width_known_ = false;
  std::size_t wrap_width_ = 0;  // At which PowerShell broke the lines, or 0.
  std::string carry_;       // The unfinished line, raw.
  std::string clean_;       // Scratch.
  std::int64_t number_ = 1;
  std::int64_t nul_bytes_ = 0;
  bool after_return_ = false;  // The last line break was \r, so a \n now belongs to it.
  bool in_pieces_ = false;     // Pieces of the unfinished line were handed out.
  bool ended_mid_line_ = false;
};

}  // namespace whystop
