#pragma once

#include "cause/cause.h"

namespace whystop {

// The weighers of what can make a job stand still or crawl, sorted; each is defined in
// src/cause/<id>/<id>.cc.
void WeighBlockedOnGui(const CaseFile& run, Hypothesis& out);
void WeighBusyLoop(const CaseFile& run, Hypothesis& out);
void WeighCollectiveMismatch(const CaseFile& run, Hypothesis& out);
void WeighCollectiveTimeout(const CaseFile& run, Hypothesis& out);
void WeighCompileOrWarmup(const CaseFile& run, Hypothesis& out);
void WeighCpuFallback(const CaseFile& run, Hypothesis& out);
void WeighDataBound(const CaseFile& run, Hypothesis& out);
void WeighDataloaderDeadlock(const CaseFile& run, Hypothesis& out);
void WeighForkOpenmpDeadlock(const CaseFile& run, Hypothesis& out);
void WeighGpuThermalThrottle(const CaseFile& run, Hypothesis& out);
void WeighJaxForkDeadlock(const CaseFile& run, Hypothesis& out);
void WeighLockHeld(const CaseFile& run, Hypothesis& out);
void WeighLoggerStall(const CaseFile& run, Hypothesis& out);
void WeighNetworkFetchStall(const CaseFile& run, Hypothesis& out);
void WeighProcessStopped(const CaseFile& run, Hypothesis& out);
void WeighRendezvousStuck(const CaseFile& run, Hypothesis& out);
void WeighShutdownHang(const CaseFile& run, Hypothesis& out);
void WeighStorageStall(const CaseFile& run, Hypothesis& out);
void WeighStraggler(const CaseFile& run, Hypothesis& out);
void WeighStuckInCall(const CaseFile& run, Hypothesis& out);
void WeighTokenizerForkDeadlock(const CaseFile& run, Hypothesis& out);
void WeighUnevenInputs(const CaseFile& run, Hypothesis& out);
void WeighWaitingForInput(const CaseFile& run, Hypothesis& out);

}  // namespace whystop
