#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "text/signature_matcher.h"

namespace whystop {

/// Finds the lines of a raw byte stream that hold a signature, at the speed of the filter: lines
/// are only looked for around a candidate. For searching as grep does; LogReader is the one that
/// understands.
class SignatureScanner {
 public:
  class Sink {
   public:
    virtual ~Sink() = default;
    virtual void OnMatch(std::string_view line,
                         const std::vector<SignatureMatcher::Match>& matches) = 0;
  };

  SignatureScanner(const SignatureMatcher& matcher, Sink& out) : matcher_(matcher), out_(out) {}
  void Feed(std::string_view bytes);
  void Finish();

 private:
  static constexpr std::size_t kCarryBytesMax = 64 << 10;
  void Scan(std::string_view lines);

  const SignatureMatcher& matcher_;
  Sink& out_;
  std::string carry_;  // The unfinished line.
};

}  // namespace whystop
