#pragma once

#include "cause/cause.h"

namespace whystop {

// Every weigher, sorted; each is defined in src/cause/<id>/<id>.cc.
void WeighBrokenPipe(const CaseFile& run, Hypothesis& out);
void WeighBusError(const CaseFile& run, Hypothesis& out);
void WeighCallbackException(const CaseFile& run, Hypothesis& out);
void WeighCgroupOomKill(const CaseFile& run, Hypothesis& out);
void WeighCheckpointCorrupt(const CaseFile& run, Hypothesis& out);
void WeighCudaOomFragmentation(const CaseFile& run, Hypothesis& out);
void WeighDataRanOut(const CaseFile& run, Hypothesis& out);
void WeighDataloaderWorkerKilled(const CaseFile& run, Hypothesis& out);
void WeighDiskFull(const CaseFile& run, Hypothesis& out);
void WeighEarlyStopNonfinite(const CaseFile& run, Hypothesis& out);
void WeighEarlyStopPatience(const CaseFile& run, Hypothesis& out);
void WeighEmptyDataset(const CaseFile& run, Hypothesis& out);
void WeighExternalSigkill(const CaseFile& run, Hypothesis& out);
void WeighExternalSigterm(const CaseFile& run, Hypothesis& out);
void WeighFdExhausted(const CaseFile& run, Hypothesis& out);
void WeighFinishedEarlyByDesign(const CaseFile& run, Hypothesis& out);
void WeighFinishedEpochs(const CaseFile& run, Hypothesis& out);
void WeighFinishedMaxSteps(const CaseFile& run, Hypothesis& out);
void WeighGpuLeakRetainedGraph(const CaseFile& run, Hypothesis& out);
void WeighGpuOomAtEval(const CaseFile& run, Hypothesis& out);
void WeighGpuSharedWithOtherProcess(const CaseFile& run, Hypothesis& out);
void WeighHostMemLeak(const CaseFile& run, Hypothesis& out);
void WeighHostOomKill(const CaseFile& run, Hypothesis& out);
void WeighHostReboot(const CaseFile& run, Hypothesis& out);
void WeighIllegalInstruction(const CaseFile& run, Hypothesis& out);
void WeighIterableExhausted(const CaseFile& run, Hypothesis& out);
void WeighLrFloorStop(const CaseFile& run, Hypothesis& out);
void WeighMachineSuspended(const CaseFile& run, Hypothesis& out);
void WeighNativeAbort(const CaseFile& run, Hypothesis& out);
void WeighPackageVersionMismatch(const CaseFile& run, Hypothesis& out);
void WeighPrematureReturn(const CaseFile& run, Hypothesis& out);
void WeighResumeAlreadyComplete(const CaseFile& run, Hypothesis& out);
void WeighRlimitSignal(const CaseFile& run, Hypothesis& out);
void WeighSchedulerCancelled(const CaseFile& run, Hypothesis& out);
void WeighSchedulerTimeLimit(const CaseFile& run, Hypothesis& out);
void WeighSegfault(const CaseFile& run, Hypothesis& out);
void WeighShmExhausted(const CaseFile& run, Hypothesis& out);
void WeighSigfpe(const CaseFile& run, Hypothesis& out);
void WeighSighupLogout(const CaseFile& run, Hypothesis& out);
void WeighStopFlagCallback(const CaseFile& run, Hypothesis& out);
void WeighStopOnNan(const CaseFile& run, Hypothesis& out);
void WeighSwallowedException(const CaseFile& run, Hypothesis& out);
void WeighSwapThrash(const CaseFile& run, Hypothesis& out);
void WeighTargetReached(const CaseFile& run, Hypothesis& out);
void WeighThreadLimit(const CaseFile& run, Hypothesis& out);
void WeighTimeBudgetReached(const CaseFile& run, Hypothesis& out);
void WeighUncaughtException(const CaseFile& run, Hypothesis& out);
void WeighUserInterrupt(const CaseFile& run, Hypothesis& out);
void WeighUserspaceOomDaemon(const CaseFile& run, Hypothesis& out);
void WeighWrapperTimeout(const CaseFile& run, Hypothesis& out);

}  // namespace whystop
