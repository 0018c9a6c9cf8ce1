#include "fit/fit_plan.h"

#include <algorithm>
#include <cmath>

namespace whystop {
namespace {

constexpr double kCloseEnough = 1.05;  // Of the largest that fits: what was too much so near leaves nothing to look for.
constexpr double kStepBeyond = 1.04;   // What the line promises is reached, and nothing was too much yet.
constexpr std::ptrdiff_t kTimes = 3;   // The answer was seen to fit: equal runs differ by tens of MiB.
constexpr double kAim = 0.985;         // Of what the line promises: it is a measurement.
constexpr std::int64_t kLeapMax =
    8;  // Times the largest that fitted: a line is no law far outside.

bool Fits(const FitTrial& trial) { return trial.end == FitTrial::End::kFits; }

}  // namespace

std::int64_t FitLine::BatchWithin(std::int64_t limit_bytes) const {
  const double batch = (static_cast<double>(limit_bytes) - fixed_bytes) / sample_bytes;
  return batch < 1 ? 0 : static_cast<std::int64_t>(std::min(batch, 1e12));
}

std::optional<FitLine> LineThrough(std::span<const FitTrial> trials) {
  const FitTrial* largest = nullptr;
  const FitTrial* second = nullptr;
  for (const FitTrial& trial : trials) {
    if (!Fits(trial)) {
      continue;
    }
    if (largest == nullptr || trial.batch > largest->batch) {
      second = largest;
      largest = &trial;
    } else if (trial.batch < largest->batch && (second == nullptr || trial.batch > second->batch)) {
      second = &trial;
    }
  }
  if (second == nullptr || largest->peak_bytes <= second->peak_bytes) {
    return std::nullopt;
  }
  FitLine line;
  line.sample_bytes = static_cast<double>(largest->peak_bytes - second->peak_bytes) /
                      static_cast<double>(largest->batch - second->batch);
  line.fixed_bytes = static_cast<double>(largest->peak_bytes) -
                     line.sample_bytes * static_cast<double>(largest->batch);
  return line;
}

FitAnswer AnswerOf(std::span<const FitTrial> trials) {
  FitAnswer answer;
  std::int64_t samples = 0;
  for (const FitTrial& trial : trials) {
    samples = std::max(samples, trial.samples);
    if (trial.end == FitTrial::End::kTooMuch && trial.batch > 0) {
      answer.too_large = std::min(answer.too_large.value_or(trial.batch), trial.batch);
    }
  }
  // What fitted once and was too much another time does not fit.
  for (const FitTrial& trial : trials) {
    answer.batch = Fits(trial) && trial.batch < answer.too_large.value_or(INT64_MAX) ? std::max(answer.batch, trial.batch) : answer.batch;
  }
  const auto times = std::count_if(trials.begin(), trials.end(),
                                   [&answer](const FitTrial& trial) { return Fits(trial) && trial.batch == answer.batch; });
  answer.all_samples = samples > 0 && answer.batch >= samples;
  const bool nothing_between = answer.batch > 0 && answer.too_large &&
                               static_cast<double>(*answer.too_large) <=
                                   std::max(kCloseEnough * static_cast<double>(answer.batch), static_cast<double>(answer.batch) + 1);
  answer.found = answer.all_samples || answer.too_large == 1 || nothing_between;
  answer.settled = answer.found && (answer.batch == 0 || times >= kTimes);
  return answer;
}

std::optional<std::int64_t> NextBatch(std::span<const FitTrial> trials, std::int64_t limit_bytes) {
  if (trials.empty()) {
    return 0;
  }
  const FitAnswer answer = AnswerOf(trials);
  const FitTrial& first = trials.front();
  const bool strange = std::any_of(trials.begin(), trials.end(), [](const FitTrial& trial) {
    return trial.end == FitTrial::End::kOther;
  });
  if (strange || answer.settled) {
    return std::nullopt;
  }
  if (answer.found) {
    return answer.batch;  // Once more.
  }
  std::int64_t samples = first.samples > 0 ? first.samples : INT64_MAX;
  if (answer.batch == 0) {  // Not even the program's own: downwards, by halves.
    const std::int64_t from = answer.too_large.value_or(first.own_batch);
    return from > 1 ? std::optional(from / 2) : std::nullopt;
  }
  const auto line = LineThrough(trials);
  const std::int64_t leap = kLeapMax * answer.batch;
  const std::int64_t ceiling = answer.too_large.value_or(INT64_MAX);
  std::int64_t next = 2 * answer.batch;
  if (line) {
    next = static_cast<std::int64_t>(kAim * static_cast<double>(line->BatchWithin(limit_bytes)));
  }
  if (next <= answer.batch || next >= ceiling) {  // What was seen counts more than the line.
    next = answer.too_large ? answer.batch + std::max<std::int64_t>(1, (ceiling - answer.batch) / 2)
                            : answer.batch + std::max<std::int64_t>(1, std::llround((kStepBeyond - 1) * static_cast<double>(answer.batch)));
  }
  next = std::min({next, leap, samples});
  const bool known = std::any_of(trials.begin(), trials.end(),
                                 [next](const FitTrial& trial) { return trial.batch == next; });
  return known || next <= answer.batch ? std::nullopt : std::optional(next);
}

}  // namespace whystop
