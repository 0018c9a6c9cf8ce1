#pragma once

#include <memory>

#include "detect/detector.h"

namespace whystop {

// Every detector's factory, sorted; each is defined in src/detect/<name>/<name>.cc.
std::unique_ptr<Detector> MakeActivationDead();
std::unique_ptr<Detector> MakeActivationSaturated();
std::unique_ptr<Detector> MakeDataNotFinite();
std::unique_ptr<Detector> MakeDataWaitedFor();
std::unique_ptr<Detector> MakeGpuThrottled();
std::unique_ptr<Detector> MakeGradientExploding();
std::unique_ptr<Detector> MakeGradientGrowsLinearly();
std::unique_ptr<Detector> MakeGradientNotFinite();
std::unique_ptr<Detector> MakeGradientRoundsToZero();
std::unique_ptr<Detector> MakeGradientVanishing();
std::unique_ptr<Detector> MakeGradientZero();
std::unique_ptr<Detector> MakeLossFirstPass();
std::unique_ptr<Detector> MakeLossNotFinite();
std::unique_ptr<Detector> MakeLossOscillates();
std::unique_ptr<Detector> MakeLossOverfit();
std::unique_ptr<Detector> MakeLossPlateauFromStart();
std::unique_ptr<Detector> MakeLossSpike();
std::unique_ptr<Detector> MakeLossTrend();
std::unique_ptr<Detector> MakeLrDecayedEarly();
std::unique_ptr<Detector> MakeLrZero();
std::unique_ptr<Detector> MakeMemoryClimbs();
std::unique_ptr<Detector> MakeScaleKeepsFalling();
std::unique_ptr<Detector> MakeSwapThrashing();
std::unique_ptr<Detector> MakeUpdateRatioTooLarge();
std::unique_ptr<Detector> MakeUpdateRatioTooSmall();
std::unique_ptr<Detector> MakeWeightsInitialScale();
std::unique_ptr<Detector> MakeWeightsOutgrown();
std::unique_ptr<Detector> MakeWeightsVanished();
std::unique_ptr<Detector> MakeWeightsUnchanged();

}  // namespace whystop
