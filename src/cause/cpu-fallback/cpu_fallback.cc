#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>

#include "base/human.h"
#include "cause/evidence.h"
#include "cause/hang_weighers.h"
#include "model/observations.h"

namespace whystop {
namespace {

constexpr double kSecondsMin = 60;  // A run of seconds needs no GPU.

/// What the job asked for, in the words of its scheduler or command; empty: for no GPU.
std::string AskedFor(const RunStart& start) {
  // CUDA_VISIBLE_DEVICES asks for nothing: it stands in many a shell's profile.
  if (const auto found = start.environment.find("SLURM_JOB_GPUS");
      found != start.environment.end() && !found->second.empty()) {
    return "SLURM_JOB_GPUS=" + found->second;
  }
  for (const std::string& word : start.command) {
    constexpr std::string_view kWords[] = {"--gpus", "--gpu", "--cuda", "cuda", "cuda:0", "--device=cuda",
                                           "--accelerator=gpu", "gpu"};
    const std::string_view head = std::string_view(word).substr(0, word.starts_with("--gpus=") ? 6 : word.size());
    if (std::find(std::begin(kWords), std::end(kWords), head) != std::end(kWords)) {
      return fmt::format("'{}' on its command line", word);
    }
  }
  return {};
}

/// The training used no GPU: its weights are on the CPU, and it holds no memory of any GPU.
bool TrainsOnCpu(const CaseFile& run) {
  const auto held = run.FindAll(Quantity::kGpuJobMemoryBytes);
  return As<seen::Model>(run.FindObservation("model")).devices == "cpu" &&
         std::none_of(held.begin(), held.end(), [](const ReadingHistory* one) { return one->max > 0; });
}

double TrainedSeconds(const CaseFile& run) {
  double longest = 0;
  for (const ProcessSteps& steps : run.steps) {
    longest = std::max(longest, std::chrono::duration<double>(steps.last_at - steps.first_at).count());
  }
  return longest;
}

}  // namespace

void WeighCpuFallback(const CaseFile& run, Hypothesis& out) {
  if (!run.start || !TrainsOnCpu(run) || TrainedSeconds(run) < kSecondsMin) {
    return;
  }
  const auto gpus = run.FindAll(Quantity::kGpuMemoryTotalBytes);
  const std::string asked = AskedFor(*run.start);
  const Observation* python = run.FindObservation("python");
  const auto built_for = As<seen::Python>(python).cuda;
  const bool built_without = built_for == "";
  // Many small models are trained on the CPU on purpose: a GPU must have been asked for, or be there
  // and out of reach of this build.
  if (asked.empty() && (gpus.empty() || !built_without)) {
    return;
  }
  out.Add(Supports("sample", fmt::format("the weights are on the CPU, and the job never held memory of a GPU{}",
                                         gpus.empty() ? "" : fmt::format("; the machine has {}", gpus.size()))));
  if (!asked.empty()) {
    out.Add(Supports("environment", "a GPU was asked for: " + asked));
  }
  if (built_without) {
    out.Add(Supports("environment", "this build of PyTorch has no CUDA"));
  }
}

}  // namespace whystop
