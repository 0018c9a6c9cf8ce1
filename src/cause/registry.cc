#include "cause/cause.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "cause/declaration.h"
#include "cause/hang_weighers.h"
#include "cause/weighers.h"

namespace whystop {
namespace {

constexpr bool kFault = true;
constexpr bool kNotAFault = false;
constexpr auto kStop = Answers::kStop;

// The causes of ends: what they answer, the outcome when one is the root, whether it is a fault, what
// it can bring about, and its weigher. A cause without one is known by its rows in the signature
// table alone. The causes of bad learning declare themselves (cause/declaration.h).
// clang-format off
constexpr CauseEntry kEnds[] = {
    {"amp-misuse", kStop, Outcome::kRaised, kFault, "", nullptr},
    {"autograd-graph-error", kStop, Outcome::kRaised, kFault, "", nullptr},
    {"batchnorm-single-sample", kStop, Outcome::kRaised, kFault, "", nullptr},
    {"blocked-on-gui", kStop, Outcome::kHung, kFault, "user-interrupt external-sigterm external-sigkill scheduler-time-limit scheduler-cancelled wrapper-timeout sighup-logout uncaught-exception sibling-rank-failed", &WeighBlockedOnGui},
    {"boosting-no-split", kStop, Outcome::kStoppedEarly, kNotAFault, "", nullptr},
    {"broken-pipe", kStop, Outcome::kKilled, kFault, "uncaught-exception", &WeighBrokenPipe},
    {"bus-error", kStop, Outcome::kCrashed, kFault, "dataloader-worker-killed uncaught-exception", &WeighBusError},
    {"busy-loop", kStop, Outcome::kHung, kFault, "user-interrupt external-sigterm external-sigkill scheduler-time-limit scheduler-cancelled wrapper-timeout sighup-logout uncaught-exception sibling-rank-failed", &WeighBusyLoop},
    {"callback-exception", kStop, Outcome::kRaised, kFault, "", &WeighCallbackException},
    {"cgroup-oom-kill", kStop, Outcome::kKilled, kFault, "dataloader-worker-killed external-sigkill sibling-rank-failed uncaught-exception", &WeighCgroupOomKill},
    {"checkpoint-corrupt", kStop, Outcome::kRaised, kFault, "uncaught-exception", &WeighCheckpointCorrupt},
    {"checkpoint-mismatch", kStop, Outcome::kRaised, kFault, "", nullptr},
    {"collective-mismatch", kStop, Outcome::kRaised, kFault, "user-interrupt external-sigterm external-sigkill scheduler-time-limit scheduler-cancelled wrapper-timeout sighup-logout uncaught-exception sibling-rank-failed", &WeighCollectiveMismatch},
    {"collective-timeout", kStop, Outcome::kRaised, kFault, "native-abort nccl-watchdog-stuck sibling-rank-failed user-interrupt external-sigterm external-sigkill scheduler-time-limit scheduler-cancelled wrapper-timeout sighup-logout uncaught-exception", &WeighCollectiveTimeout},
    {"compile-or-warmup", kStop, Outcome::kRunning, kNotAFault, "", &WeighCompileOrWarmup},
    {"cpu-fallback", kStop, Outcome::kUnknown, kFault, "", &WeighCpuFallback},
    {"cuda-arch-mismatch", kStop, Outcome::kRaised, kFault, "", nullptr},
    {"cuda-device-assert", kStop, Outcome::kRaised, kFault, "uncaught-exception", nullptr},
    {"cuda-illegal-access", kStop, Outcome::kRaised, kFault, "", nullptr},
    {"cuda-in-fork", kStop, Outcome::kRaised, kFault, "", nullptr},
    {"cuda-oom", kStop, Outcome::kRaised, kFault, "", nullptr},
    {"cuda-oom-fragmentation", kStop, Outcome::kRaised, kFault, "cuda-oom uncaught-exception", &WeighCudaOomFragmentation},
    {"cudnn-error", kStop, Outcome::kRaised, kFault, "", nullptr},
    {"data-bound", kStop, Outcome::kUnknown, kFault, "", &WeighDataBound},
    {"data-file-corrupt", kStop, Outcome::kRaised, kFault, "", nullptr},
    {"data-ran-out", kStop, Outcome::kStoppedEarly, kFault, "", &WeighDataRanOut},
    {"dataloader-deadlock", kStop, Outcome::kHung, kFault, "user-interrupt external-sigterm external-sigkill scheduler-time-limit scheduler-cancelled wrapper-timeout sighup-logout uncaught-exception sibling-rank-failed", &WeighDataloaderDeadlock},
    {"dataloader-worker-exception", kStop, Outcome::kRaised, kFault, "uncaught-exception swallowed-exception", nullptr},
    {"dataloader-worker-killed", kStop, Outcome::kRaised, kFault, "uncaught-exception swallowed-exception user-interrupt scheduler-time-limit scheduler-cancelled wrapper-timeout sighup-logout", &WeighDataloaderWorkerKilled},
    {"ddp-unused-parameters", kStop, Outcome::kRaised, kFault, "", nullptr},
    {"device-mismatch", kStop, Outcome::kRaised, kFault, "", nullptr},
    {"disk-full", kStop, Outcome::kRaised, kFault, "uncaught-exception checkpoint-corrupt native-abort", &WeighDiskFull},
    {"disk-quota", kStop, Outcome::kRaised, kFault, "uncaught-exception checkpoint-corrupt", nullptr},
    {"driver-mismatch", kStop, Outcome::kRaised, kFault, "", nullptr},
    {"early-stop-disabled", kStop, Outcome::kUnknown, kFault, "", nullptr},
    {"early-stop-nonfinite", kStop, Outcome::kStoppedEarly, kFault, "", &WeighEarlyStopNonfinite},
    {"early-stop-patience", kStop, Outcome::kStoppedEarly, kFault, "", &WeighEarlyStopPatience},
    {"empty-dataset", kStop, Outcome::kRaised, kFault, "", &WeighEmptyDataset},
    {"external-sigkill", kStop, Outcome::kKilled, kFault, "sibling-rank-failed nccl-error", &WeighExternalSigkill},
    {"external-sigterm", kStop, Outcome::kKilled, kFault, "dataloader-worker-killed", &WeighExternalSigterm},
    {"fd-exhausted", kStop, Outcome::kRaised, kFault, "uncaught-exception dataloader-worker-exception", &WeighFdExhausted},
    {"finished-early-by-design", kStop, Outcome::kStoppedEarly, kNotAFault, "", &WeighFinishedEarlyByDesign},
    {"finished-epochs", kStop, Outcome::kCompleted, kNotAFault, "", &WeighFinishedEpochs},
    {"finished-max-steps", kStop, Outcome::kCompleted, kNotAFault, "", &WeighFinishedMaxSteps},
    {"finished-nothing-to-do", kStop, Outcome::kCompleted, kNotAFault, "", nullptr},
    {"fork-openmp-deadlock", kStop, Outcome::kHung, kFault, "user-interrupt external-sigterm external-sigkill scheduler-time-limit scheduler-cancelled wrapper-timeout sighup-logout uncaught-exception sibling-rank-failed", &WeighForkOpenmpDeadlock},
    {"gpu-ecc", kStop, Outcome::kRaised, kFault, "uncaught-exception gpu-xid", nullptr},
    {"gpu-kernel-resources", kStop, Outcome::kRaised, kFault, "", nullptr},
    {"gpu-leak-retained-graph", kStop, Outcome::kUnknown, kFault, "cuda-oom host-mem-leak host-oom-kill cgroup-oom-kill", &WeighGpuLeakRetainedGraph},
    {"gpu-lib-init-oom", kStop, Outcome::kRaised, kFault, "", nullptr},
    {"gpu-lost", kStop, Outcome::kRaised, kFault, "uncaught-exception gpu-xid", nullptr},
    {"gpu-oom-at-eval", kStop, Outcome::kRaised, kFault, "cuda-oom uncaught-exception", &WeighGpuOomAtEval},
    {"gpu-shared-with-other-process", kStop, Outcome::kRaised, kFault, "cuda-oom uncaught-exception", &WeighGpuSharedWithOtherProcess},
    {"gpu-thermal-throttle", kStop, Outcome::kUnknown, kFault, "", &WeighGpuThermalThrottle},
    {"gpu-xid", kStop, Outcome::kUnknown, kFault, "", nullptr},
    {"heap-corruption", kStop, Outcome::kCrashed, kFault, "", nullptr},
    {"host-alloc-failed", kStop, Outcome::kRaised, kFault, "uncaught-exception native-abort", nullptr},
    {"host-mem-leak", kStop, Outcome::kUnknown, kFault, "host-oom-kill cgroup-oom-kill dataloader-worker-killed host-alloc-failed swap-thrash userspace-oom-daemon slurm-memory-limit", &WeighHostMemLeak},
    {"host-oom-kill", kStop, Outcome::kKilled, kFault, "dataloader-worker-killed external-sigkill sibling-rank-failed uncaught-exception", &WeighHostOomKill},
    {"host-reboot", kStop, Outcome::kKilled, kFault, "", &WeighHostReboot},
    {"illegal-instruction", kStop, Outcome::kCrashed, kFault, "", &WeighIllegalInstruction},
    {"invalid-values-rejected", kStop, Outcome::kRaised, kFault, "", nullptr},
    {"iterable-exhausted", kStop, Outcome::kStoppedEarly, kFault, "", &WeighIterableExhausted},
    {"jax-fork-deadlock", kStop, Outcome::kHung, kFault, "user-interrupt external-sigterm external-sigkill scheduler-time-limit scheduler-cancelled wrapper-timeout sighup-logout uncaught-exception sibling-rank-failed", &WeighJaxForkDeadlock},
    {"jax-oom", kStop, Outcome::kRaised, kFault, "", nullptr},
    {"k8s-evicted", kStop, Outcome::kKilled, kFault, "", nullptr},
    {"label-out-of-range", kStop, Outcome::kRaised, kFault, "cuda-device-assert uncaught-exception", nullptr},
    {"label-type-error", kStop, Outcome::kRaised, kFault, "", nullptr},
    {"lock-held", kStop, Outcome::kHung, kFault, "user-interrupt external-sigterm external-sigkill scheduler-time-limit scheduler-cancelled wrapper-timeout sighup-logout uncaught-exception sibling-rank-failed", &WeighLockHeld},
    {"logger-stall", kStop, Outcome::kUnknown, kFault, "user-interrupt external-sigterm external-sigkill scheduler-time-limit scheduler-cancelled wrapper-timeout sighup-logout uncaught-exception sibling-rank-failed", &WeighLoggerStall},
    {"loss-has-no-graph", kStop, Outcome::kRaised, kFault, "", nullptr},
    {"loss-scale-floor", kStop, Outcome::kRaised, kFault, "", nullptr},
    {"lr-floor-stop", kStop, Outcome::kStoppedEarly, kNotAFault, "", &WeighLrFloorStop},
    {"machine-suspended", kStop, Outcome::kUnknown, kFault, "", &WeighMachineSuspended},
    {"missing-main-guard", kStop, Outcome::kRaised, kFault, "", nullptr},
    {"mps-oom", kStop, Outcome::kRaised, kFault, "", nullptr},
    {"native-abort", kStop, Outcome::kCrashed, kFault, "sibling-rank-failed", &WeighNativeAbort},
    {"nccl-duplicate-gpu", kStop, Outcome::kRaised, kFault, "", nullptr},
    {"nccl-error", kStop, Outcome::kRaised, kFault, "native-abort sibling-rank-failed", nullptr},
    {"nccl-watchdog-stuck", kStop, Outcome::kCrashed, kFault, "", nullptr},
    {"network-fetch-stall", kStop, Outcome::kHung, kFault, "user-interrupt external-sigterm external-sigkill scheduler-time-limit scheduler-cancelled wrapper-timeout sighup-logout uncaught-exception sibling-rank-failed", &WeighNetworkFetchStall},
    {"no-gpu-in-build", kStop, Outcome::kRaised, kFault, "", nullptr},
    {"node-failure", kStop, Outcome::kKilled, kFault, "", nullptr},
    {"notebook-kernel-killed", kStop, Outcome::kKilled, kFault, "", nullptr},
    {"notebook-runtime-limit", kStop, Outcome::kKilled, kFault, "", nullptr},
    {"nvlink-ib-fault", kStop, Outcome::kRaised, kFault, "", nullptr},
    {"openmp-duplicate", kStop, Outcome::kCrashed, kFault, "", nullptr},
    {"package-version-mismatch", kStop, Outcome::kRaised, kFault, "", &WeighPackageVersionMismatch},
    {"preempted", kStop, Outcome::kKilled, kFault, "external-sigterm external-sigkill dataloader-worker-killed", nullptr},
    {"premature-return", kStop, Outcome::kStoppedEarly, kFault, "", &WeighPrematureReturn},
    {"process-stopped", kStop, Outcome::kHung, kFault, "user-interrupt external-sigterm external-sigkill scheduler-time-limit scheduler-cancelled wrapper-timeout sighup-logout uncaught-exception sibling-rank-failed", &WeighProcessStopped},
    {"ragged-batch", kStop, Outcome::kRaised, kFault, "", nullptr},
    {"remote-fetch-failed", kStop, Outcome::kRaised, kFault, "", nullptr},
    {"rendezvous-stuck", kStop, Outcome::kRaised, kFault, "user-interrupt external-sigterm external-sigkill scheduler-time-limit scheduler-cancelled wrapper-timeout sighup-logout uncaught-exception sibling-rank-failed", &WeighRendezvousStuck},
    {"resume-already-complete", kStop, Outcome::kCompleted, kFault, "", &WeighResumeAlreadyComplete},
    {"rlimit-signal", kStop, Outcome::kKilled, kFault, "uncaught-exception", &WeighRlimitSignal},
    {"scheduler-cancelled", kStop, Outcome::kKilled, kFault, "external-sigterm external-sigkill dataloader-worker-killed sibling-rank-failed", &WeighSchedulerCancelled},
    {"scheduler-time-limit", kStop, Outcome::kKilled, kFault, "external-sigterm external-sigkill user-interrupt dataloader-worker-killed", &WeighSchedulerTimeLimit},
    {"segfault", kStop, Outcome::kCrashed, kFault, "dataloader-worker-killed sibling-rank-failed uncaught-exception", &WeighSegfault},
    {"session-cleanup", kStop, Outcome::kKilled, kFault, "", nullptr},
    {"shape-mismatch", kStop, Outcome::kRaised, kFault, "", nullptr},
    {"shm-exhausted", kStop, Outcome::kRaised, kFault, "bus-error dataloader-worker-exception dataloader-worker-killed disk-full uncaught-exception", &WeighShmExhausted},
    {"shutdown-hang", kStop, Outcome::kHung, kFault, "user-interrupt external-sigterm external-sigkill scheduler-time-limit scheduler-cancelled wrapper-timeout sighup-logout uncaught-exception sibling-rank-failed", &WeighShutdownHang},
    {"shutdown-noise", kStop, Outcome::kUnknown, kNotAFault, "", nullptr},
    {"sibling-rank-failed", kStop, Outcome::kKilled, kFault, "", nullptr},
    {"sigfpe", kStop, Outcome::kCrashed, kFault, "", &WeighSigfpe},
    {"sighup-logout", kStop, Outcome::kKilled, kFault, "", &WeighSighupLogout},
    {"slurm-memory-limit", kStop, Outcome::kKilled, kFault, "", nullptr},
    {"stop-flag-callback", kStop, Outcome::kStoppedEarly, kFault, "", &WeighStopFlagCallback},
    {"stop-on-nan", kStop, Outcome::kStoppedEarly, kFault, "", &WeighStopOnNan},
    {"storage-stall", kStop, Outcome::kUnknown, kFault, "user-interrupt external-sigterm external-sigkill scheduler-time-limit scheduler-cancelled wrapper-timeout sighup-logout uncaught-exception sibling-rank-failed", &WeighStorageStall},
    {"straggler", kStop, Outcome::kUnknown, kFault, "", &WeighStraggler},
    {"strings-as-numbers", kStop, Outcome::kRaised, kFault, "", nullptr},
    {"stuck-in-call", kStop, Outcome::kHung, kFault, "user-interrupt external-sigterm external-sigkill scheduler-time-limit scheduler-cancelled wrapper-timeout sighup-logout uncaught-exception sibling-rank-failed", &WeighStuckInCall},
    {"swallowed-exception", kStop, Outcome::kStoppedEarly, kFault, "", &WeighSwallowedException},
    {"swap-thrash", kStop, Outcome::kUnknown, kFault, "external-sigkill", &WeighSwapThrash},
    {"target-reached", kStop, Outcome::kStoppedEarly, kNotAFault, "", &WeighTargetReached},
    {"tf-gpu-oom", kStop, Outcome::kRaised, kFault, "", nullptr},
    {"thread-limit", kStop, Outcome::kRaised, kFault, "uncaught-exception native-abort", &WeighThreadLimit},
    {"time-budget-reached", kStop, Outcome::kStoppedEarly, kNotAFault, "", &WeighTimeBudgetReached},
    {"token-id-out-of-range", kStop, Outcome::kRaised, kFault, "cuda-device-assert uncaught-exception", nullptr},
    {"tokenizer-fork-deadlock", kStop, Outcome::kHung, kFault, "user-interrupt external-sigterm external-sigkill scheduler-time-limit scheduler-cancelled wrapper-timeout sighup-logout uncaught-exception sibling-rank-failed", &WeighTokenizerForkDeadlock},
    {"trial-pruned", kStop, Outcome::kStoppedEarly, kNotAFault, "", nullptr},
    {"uncaught-exception", kStop, Outcome::kRaised, kFault, "sibling-rank-failed nccl-error", &WeighUncaughtException},
    {"uneven-inputs", kStop, Outcome::kHung, kFault, "collective-timeout nccl-error user-interrupt external-sigterm external-sigkill scheduler-time-limit scheduler-cancelled wrapper-timeout sighup-logout uncaught-exception sibling-rank-failed", &WeighUnevenInputs},
    {"user-interrupt", kStop, Outcome::kInterrupted, kFault, "", &WeighUserInterrupt},
    {"userspace-oom-daemon", kStop, Outcome::kKilled, kFault, "dataloader-worker-killed sibling-rank-failed uncaught-exception", &WeighUserspaceOomDaemon},
    {"waiting-for-input", kStop, Outcome::kHung, kFault, "user-interrupt external-sigterm external-sigkill scheduler-time-limit scheduler-cancelled wrapper-timeout sighup-logout uncaught-exception sibling-rank-failed", &WeighWaitingForInput},
    {"windows-pagefile", kStop, Outcome::kRaised, kFault, "", nullptr},
    {"wrapper-timeout", kStop, Outcome::kKilled, kFault, "external-sigterm external-sigkill user-interrupt", &WeighWrapperTimeout},
};
// clang-format on

std::vector<CauseEntry> JoinCauses() {
  std::vector<CauseEntry> all(std::begin(kEnds), std::end(kEnds));
  for (const Declaration& declared : AllDeclarations()) {
    all.push_back({declared.id, Answers::kLearning, Outcome::kUnknown, kFault, declared.leads_to,
                   nullptr});
  }
  std::sort(all.begin(), all.end(),
            [](const CauseEntry& a, const CauseEntry& b) { return a.id < b.id; });
  return all;
}

}  // namespace

std::span<const CauseEntry> AllCauses() {
  static const std::vector<CauseEntry> all = JoinCauses();
  return all;
}

const CauseEntry* FindCause(std::string_view id) {
  const auto all = AllCauses();
  const auto found = std::lower_bound(
      all.begin(), all.end(), id,
      [](const CauseEntry& entry, std::string_view wanted) { return entry.id < wanted; });
  return found != all.end() && found->id == id ? &*found : nullptr;
}

bool CanLeadTo(const CauseEntry& cause, std::string_view consequence) {
  std::string_view rest = cause.leads_to;
  while (!rest.empty()) {
    const std::string_view id = rest.substr(0, rest.find(' '));
    if (id == consequence) {
      return true;
    }
    rest.remove_prefix(std::min(rest.size(), id.size() + 1));
  }
  return false;
}

}  // namespace whystop
