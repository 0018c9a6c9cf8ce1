#include "base/tfrecord.h"

#include <algorithm>

#include "base/crc32c.h"
#include "base/little_endian.h"

namespace whystop {
namespace {

bool HeaderIsSound(std::string_view header) {
  return MaskedCrc32c(header.substr(0, 8)) == LoadLittle<std::uint32_t>(header.substr(8));
}

// A length that no file holds: its frame could never be told from a torn tail, so it counts as
// damage.
constexpr std::uint64_t kPlausibleBytesMax = std::uint64_t{1} << 40;

}  // namespace

void AppendTfRecord(std::string& out, std::string_view body) {
  const std::size_t header = out.size();
  AppendLittle<std::uint64_t>(out, body.size());
  AppendLittle<std::uint32_t>(out, MaskedCrc32c(std::string_view(out).substr(header, 8)));
  out.append(body);
  AppendLittle<std::uint32_t>(out, MaskedCrc32c(body));
}

void TfRecordReader::Feed(std::string_view bytes) {
  Consume(consume_later_);
  consume_later_ = 0;
  carry_.append(pending_);  // Empty when the caller kept to the contract.
  pending_ = bytes;
  fed_bytes_ += bytes.size();
}

std::optional<std::string_view> TfRecordReader::Peek(std::size_t bytes) {
  if (carry_.empty() && pending_.size() >= bytes) {
    return pending_.substr(0, bytes);
  }
  if (carry_.size() < bytes) {
    const std::size_t more = std::min(bytes - carry_.size(), pending_.size());
    carry_.append(pending_.substr(0, more));
    pending_.remove_prefix(more);
  }
  if (carry_.size() < bytes) {
    return std::nullopt;
  }
  return std::string_view(carry_).substr(0, bytes);
}

void TfRecordReader::Consume(std::size_t bytes) {
  const std::size_t from_carry = std::min(bytes, carry_.size());
  carry_.erase(0, from_carry);
  pending_.remove_prefix(bytes - from_carry);
}

bool TfRecordReader::FindHeader() {
  while (const auto header = Peek(kTfRecordHeaderBytes)) {
    if (HeaderIsSound(*header) && LoadLittle<std::uint64_t>(*header) < kPlausibleBytesMax) {
      searching_ = false;
      return true;
    }
    Consume(1);
    ++offset_;
    ++skipped_bytes_;
  }
  return false;
}

TfRecord TfRecordReader::Next() {
  Consume(consume_later_);
  consume_later_ = 0;
  if (long_bytes_left_ > 0) {
    return PassLongBody();
  }
  if (searching_ && !FindHeader()) {
    return {.state = TfRecord::State::kTruncated, .body = {}, .offset = offset_};
  }
  const auto header = Peek(kTfRecordHeaderBytes);
  if (!header) {
    return {.state = TfRecord::State::kTruncated, .body = {}, .offset = offset_};
  }
  const auto body_bytes = LoadLittle<std::uint64_t>(*header);
  if (!HeaderIsSound(*header) || body_bytes >= kPlausibleBytesMax) {
    searching_ = true;
    return {.state = TfRecord::State::kBadLength, .body = {}, .offset = offset_};
  }
  if (body_bytes > body_bytes_max_) {
    Consume(kTfRecordHeaderBytes);
    long_bytes_ = body_bytes;
    long_bytes_left_ = body_bytes + kTfRecordFooterBytes;
    long_crc_ = 0;
    return PassLongBody();
  }
  return TakeBody();
}

TfRecord TfRecordReader::TakeBody() {
  const auto body_bytes =
      static_cast<std::size_t>(LoadLittle<std::uint64_t>(*Peek(kTfRecordHeaderBytes)));
  const std::size_t frame_bytes = kTfRecordHeaderBytes + body_bytes + kTfRecordFooterBytes;
  const auto frame = Peek(frame_bytes);
  if (!frame) {
    return {.state = TfRecord::State::kTruncated, .body = {}, .offset = offset_};
  }
  TfRecord record{.state = TfRecord::State::kWhole,
                  .body = frame->substr(kTfRecordHeaderBytes, body_bytes),
                  .offset = offset_};
  if (MaskedCrc32c(record.body) !=
      LoadLittle<std::uint32_t>(frame->substr(kTfRecordHeaderBytes + body_bytes))) {
    record.state = TfRecord::State::kBadBody;
    record.body = {};
  }
  offset_ += frame_bytes;
  consume_later_ = frame_bytes;
  return record;
}

TfRecord TfRecordReader::PassLongBody() {
  while (long_bytes_left_ > kTfRecordFooterBytes) {
    const std::uint64_t wanted = long_bytes_left_ - kTfRecordFooterBytes;
    const std::string_view held = carry_.empty() ? pending_ : std::string_view(carry_);
    const auto taken = static_cast<std::size_t>(std::min<std::uint64_t>(wanted, held.size()));
    if (taken == 0) {
      return {.state = TfRecord::State::kTruncated, .body = {}, .offset = offset_};
    }
    long_crc_ = Crc32c(held.substr(0, taken), long_crc_);
    Consume(taken);
    long_bytes_left_ -= taken;
  }
  const auto footer = Peek(kTfRecordFooterBytes);
  if (!footer) {
    return {.state = TfRecord::State::kTruncated, .body = {}, .offset = offset_};
  }
  const bool sound = MaskCrc32c(long_crc_) == LoadLittle<std::uint32_t>(*footer);
  const TfRecord record{.state = sound ? TfRecord::State::kTooLong : TfRecord::State::kBadBody,
                        .body = {},
                        .offset = offset_};
  Consume(kTfRecordFooterBytes);
  long_bytes_left_ = 0;
  offset_ += kTfRecordHeaderBytes + long_bytes_ + kTfRecordFooterBytes;
  return record;
}

}  // namespace whystop
