#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace whystop {

/// What one trial of `whystop fit` showed.
struct FitTrial {
  enum class End { kFits, kTooMuch, kOther };
  std::string spec;
  std::int64_t batch = 0;
  End end = End::kOther;
  std::int64_t peak_bytes = 0;  // Of the whole process tree, or of the fullest GPU.
  std::string said;             // Why it ended, where it did not fit.
  // Of the training process, at this batch; 0: not known.
  std::int64_t own_batch = 0;
  std::int64_t samples = 0;  // Of the data set.
  std::int64_t start_bytes = 0;
  std::int64_t process_peak_bytes = 0;
  std::int64_t model_bytes = 0;
  std::int64_t gradient_bytes = 0;
  std::int64_t optimizer_bytes = 0;
  std::int64_t device_peak_bytes = 0;
  std::int64_t device_total_bytes = 0;
  bool by_loader = false;
  bool changed = false;  // All that the spec asks for was done.
};

/// Memory as a function of the batch: so much whatever it is, and so much for each sample.
struct FitLine {
  double fixed_bytes = 0;
  double sample_bytes = 0;
  std::int64_t BatchWithin(std::int64_t limit_bytes) const;
  double BytesAt(std::int64_t batch) const {
    return fixed_bytes + sample_bytes * static_cast<double>(batch);
  }
};
/// Through the two largest batches that fitted; nullopt: they are not two, or memory did not grow.
std::optional<FitLine> LineThrough(std::span<const FitTrial> trials);

struct FitAnswer {
  std::int64_t batch = 0;                 // The largest that was seen to fit; 0: none was.
  std::optional<std::int64_t> too_large;  // The smallest that was seen not to.
  bool all_samples = false;               // There is no more data than that.
  bool found = false;                     // No larger one is worth a trial.
  bool settled = false;                   // And this one has fitted often enough.
};
FitAnswer AnswerOf(std::span<const FitTrial> trials);

/// The batch to try next: 0 leaves the program's own. Nullopt: the answer is settled, or cannot be.
std::optional<std::int64_t> NextBatch(std::span<const FitTrial> trials, std::int64_t limit_bytes);

}  // namespace whystop
