#include "text/shape_cache.h"

#include <algorithm>
#include <cstring>

namespace whystop {
namespace {

constexpr std::size_t kSeenOnce = 8192;
constexpr std::int64_t kCreditMax = 4096;
constexpr std::int64_t kCostOfLearning =
    16;  // In lines that a plan must serve to be worth its making.

}  // namespace

const LinePlan* ShapeCache::Find(std::string_view line) {
  if (line.empty() || line.size() > kLineBytesMax) {
    return nullptr;
  }
  const std::uint64_t hash = MakeShape(line, shape_.data());
  if (entries_.empty()) {
    entries_.resize(kEntries);
    seen_once_.resize(kSeenOnce);
  }
  const std::size_t slot = hash & (kEntries - 1);
  for (const std::size_t at : {slot, slot ^ 1}) {
    const Entry* entry = entries_[at].get();
    if (entry != nullptr && entry->hash == hash && entry->shape.size() == line.size() &&
        std::memcmp(entry->shape.data(), shape_.data(), line.size()) == 0) {
      credit_ = std::min(credit_ + 1, kCreditMax);
      return entry->usable ? &entry->plan : nullptr;
    }
  }
  std::uint32_t& seen = seen_once_[hash % kSeenOnce];
  const auto tag = static_cast<std::uint32_t>(hash >> 32);
  if (seen != tag) {
    seen = tag;
    credit_ += (hash & 63) == 0 ? 1 : 0;  // A log that changes its ways is learned anew in time.
    return nullptr;
  }
  // A log without any repetition must not pay for plans that nobody uses.
  return credit_ >= kCostOfLearning ? Learn(line, {shape_.data(), line.size()}, hash) : nullptr;
}

const LinePlan* ShapeCache::Learn(std::string_view line, std::string_view shape,
                                  std::uint64_t hash) {
  credit_ -= kCostOfLearning;
  const std::size_t slot = hash & (kEntries - 1);
  if (entries_[slot] != nullptr) {
    std::swap(entries_[slot], entries_[slot ^ 1]);
  }
  auto entry = std::make_unique<Entry>();
  entry->hash = hash;
  entry->shape = shape;
  entry->usable = IsTameShape(shape) && entry->plan.Learn(line, shape);
  entries_[slot] = std::move(entry);
  return entries_[slot]->usable ? &entries_[slot]->plan : nullptr;
}

}  // namespace whystop
