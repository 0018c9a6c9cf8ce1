#include "cli/fit_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/human.h"
#include "report/json_writer.h"

namespace whystop {
namespace {

std::string Bytes(std::int64_t bytes) { return HumanBytes(static_cast<double>(bytes)); }

std::string Line(const char* label, const std::string& text) {
  return fmt::format("{:<9} {}\n", label, text);
}

std::string Tried(const FitFindings& found) {
  std::string text;
  for (const FitTrial& trial : found.trials) {
    const bool fits = trial.end == FitTrial::End::kFits;
    text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", HumanCount(trial.batch),
                        fits                                   ? Bytes(trial.peak_bytes)
                        : trial.end == FitTrial::End::kTooMuch ? "too much"
                                                               : trial.said);
  }
  return text;
}

std::string Answer(const FitFindings& found) {
  const FitAnswer& answer = found.answer;
  const std::int64_t own = found.trials.empty() ? 0 : found.trials.front().own_batch;
  if (answer.batch == 0) {
    return answer.too_large == 1
               ? fmt::format("not even a batch of 1 fits into {}", Bytes(found.limit_bytes))
               : "not known";
  }
  std::string text =
      fmt::format("batch {} fits into {}", HumanCount(answer.batch), Bytes(found.limit_bytes));
  if (answer.all_samples) {
    text += ": all samples at once";
  } else if (answer.too_large) {
    text += fmt::format(", {} does not", HumanCount(*answer.too_large));
  } else if (!answer.settled) {
    text += "; a larger one may";
  }
  return own > 0 && own != answer.batch
             ? text + fmt::format("; the program has {}", HumanCount(own))
             : text;
}

}  // namespace

std::vector<FitPart> PartsOf(const FitTrial& trial, const FitLine& line) {
  const auto activations =
      static_cast<std::int64_t>(line.sample_bytes * static_cast<double>(trial.batch));
  std::vector<FitPart> parts = {{"activations and batch", activations},
                                {"model", trial.model_bytes},
                                {"gradients", trial.gradient_bytes},
                                {"optimizer", trial.optimizer_bytes}};
  const bool on_device = trial.device_peak_bytes > 0;
  if (!on_device && trial.process_peak_bytes > 0) {
    parts.push_back(
        {"loader's workers and other processes", trial.peak_bytes - trial.process_peak_bytes});
  }
  std::int64_t known = 0;
  for (const FitPart& part : parts) {
    known += std::max<std::int64_t>(0, part.bytes);
  }
  parts.push_back({on_device ? "allocator and buffers" : "program, libraries and data",
                   trial.peak_bytes - known});
  std::erase_if(parts, [](const FitPart& part) { return part.bytes <= 0; });
  std::stable_sort(parts.begin(), parts.end(),
                   [](const FitPart& a, const FitPart& b) { return a.bytes > b.bytes; });
  return parts;
}

FitSaving Accumulation(const FitTrial& own, const FitAnswer& answer, const FitLine& line) {
  const bool shrinks = answer.batch < own.batch;  // The program's own does not fit.
  const std::int64_t part = shrinks ? answer.batch : std::max<std::int64_t>(1, own.batch / 4);
  const std::int64_t parts = (own.batch + part - 1) / part;
  FitSaving saving{"accumulation", "", part, static_cast<std::int64_t>(line.BytesAt(part))};
  saving.text = fmt::format("batch {} as {} steps of {}: {} instead of {}", HumanCount(own.batch),
                            parts, HumanCount(part), Bytes(saving.peak_bytes),
                            Bytes(static_cast<std::int64_t>(line.BytesAt(own.batch))));
  return saving;
}

std::string FitText(const FitFindings& found) {
  std::string text = Line("FITS", Answer(found));
  text += Line("  tried", Tried(found));
  const auto line = LineThrough(found.trials);
  if (line) {
    text += Line("  memory",
                 fmt::format("{} a sample, {} whatever the batch", HumanBytes(line->sample_bytes),
                             HumanBytes(std::max(0.0, line->fixed_bytes))));
    const FitTrial& own = found.trials.front();
    if (own.end == FitTrial::End::kFits) {
      std::string parts;
      for (const FitPart& part : PartsOf(own, *line)) {
        parts += fmt::format("{}{} {}", parts.empty() ? "" : ", ", part.name, Bytes(part.bytes));
      }
      text += Line("  parts", fmt::format("at batch {}: {}", HumanCount(own.batch), parts));
    }
  }
  text += Line("  limit", fmt::format("{} {}", Bytes(found.limit_bytes), found.limit_is));
  bool first = true;
  for (const FitSaving& saving : found.savings) {
    text += Line(first ? "INSTEAD" : "", fmt::format("{}: {}", saving.what, saving.text));
    first = false;
  }
  return found.trouble.empty() ? text : text + Line("  but", found.trouble);
}

std::string FitJson(const FitFindings& found) {
  JsonWriter out(2);
  out.Open();
  out.Number("schema", std::int64_t{1});
  out.Number("limit_bytes", found.limit_bytes);
  out.Text("limit_is", found.limit_is);
  out.Number("batch", found.answer.batch);
  out.Number("too_large", found.answer.too_large);
  out.Flag("all_samples", found.answer.all_samples);
  out.Flag("settled", found.answer.settled);
  out.Number("own_batch", found.trials.empty() ? std::int64_t{0} : found.trials.front().own_batch);
  const auto line = LineThrough(found.trials);
  if (line) {
    out.Number("bytes_a_sample", line->sample_bytes);
    out.Number("bytes_fixed", line->fixed_bytes);
  }
  out.OpenList("parts");
  if (line && found.trials.front().end == FitTrial::End::kFits) {
    for (const FitPart& part : PartsOf(found.trials.front(), *line)) {
      out.Open();
      out.Text("name", part.name);
      out.Number("bytes", part.bytes);
      out.Close();
    }
  }
  out.CloseList();
  out.OpenList("trials");
  for (const FitTrial& trial : found.trials) {
    out.Open();
    out.Number("batch", trial.batch);
    out.Text("result", trial.end == FitTrial::End::kFits      ? "fits"
                       : trial.end == FitTrial::End::kTooMuch ? "too-much"
                                                              : "other");
    out.Number("peak_bytes", trial.peak_bytes);
    if (!trial.said.empty()) {
      out.Said("text", trial.said);
    }
    out.Close();
  }
  out.CloseList();
  out.OpenList("savings");
  for (const FitSaving& saving : found.savings) {
    out.Open();
    out.Text("what", saving.what);
    out.Text("text", saving.text);
    out.Number("batch", saving.batch);
    out.Number("peak_bytes", saving.peak_bytes);
    out.Close();
  }
  out.CloseList();
  if (!found.trouble.empty()) {
    out.Said("trouble", found.trouble);
  }
  out.Close();
  return out.text() + "\n";
}

}  // namespace whystop
