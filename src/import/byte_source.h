#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/result.h"

namespace whystop {

/// Bytes of one file in pieces. Readers pull; tests and fuzzers give them memory.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  /// The next piece, valid until the next call; empty at the end.
  virtual std::string_view Next() = 0;
};

class MemorySource final : public ByteSource {
 public:
  /// Hands `bytes` out in pieces of at most `piece_bytes`.
  explicit MemorySource(std::string_view bytes, std::size_t piece_bytes = 1 << 16)
      : rest_(bytes), piece_bytes_(piece_bytes) {}
  std::string_view Next() override {
    const std::string_view piece = rest_.substr(0, piece_bytes_);
    rest_.remove_prefix(piece.size());
    return piece;
  }

 private:
  std::string_view rest_;
  std::size_t piece_bytes_;
};

/// A file, read in pieces that fit the cache (256 KiB). A read error ends it; `fault` says why.
class FileSource final : public ByteSource {
 public:
  static Result<std::unique_ptr<FileSource>> Open(const std::string& path);
  FileSource(Fd fd, std::string path)
      : fd_(std::move(fd)), path_(std::move(path)), buffer_(std::size_t{256} << 10) {}
  std::string_view Next() override;
  const std::string& fault() const { return fault_; }

 private:
  Fd fd_;
  std::string path_;
  std::vector<char> buffer_;
  std::string fault_;
};

}  // namespace whystop
