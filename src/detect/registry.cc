#include "detect/detector.h"
#include "detect/detectors.h"

namespace whystop {
namespace {

// Sorted by id.
constexpr DetectorEntry kDetectors[] = {
    {"activation/dead", "A layer's rectified units sleep for every sample", &MakeActivationDead},
    {"activation/saturated", "A layer's outputs stand at the ends of their range",
     &MakeActivationSaturated},
    {"data/not-finite", "NaN or infinity in the inputs or targets", &MakeDataNotFinite},
    {"data/waited-for", "Steps wait for their batch most of the time", &MakeDataWaitedFor},
    {"gpu/throttled", "Heat or a power brake holds a GPU down", &MakeGpuThrottled},
    {"gradient/exploding", "Gradients grew by orders of magnitude", &MakeGradientExploding},
    {"gradient/grows-linearly", "The gradient's norm rises in a straight line with the steps",
     &MakeGradientGrowsLinearly},
    {"gradient/not-finite", "The gradient's norm is NaN or infinite to the end",
     &MakeGradientNotFinite},
    {"gradient/rounds-to-zero", "Gradients lie where 16 bits round to zero", &MakeGradientRoundsToZero},
    {"gradient/vanishing", "The first layers get next to no gradient", &MakeGradientVanishing},
    {"gradient/zero", "Gradients are exactly zero", &MakeGradientZero},
    {"loss/first-pass", "What the loss came to before a sample came a second time", &MakeLossFirstPass},
    {"loss/not-finite", "The loss became NaN or infinite", &MakeLossNotFinite},
    {"loss/oscillates", "The loss keeps jumping far above its start", &MakeLossOscillates},
    {"loss/overfit", "The held-out loss rises while the training loss falls", &MakeLossOverfit},
    {"loss/plateau-from-start", "The loss never left its starting level",
     &MakeLossPlateauFromStart},
    {"loss/spike", "The loss jumped up and did not come back", &MakeLossSpike},
    {"loss/trend", "What each loss and score did over the run", &MakeLossTrend},
    {"lr/decayed-early", "The learning rate fell to nothing long before the end",
     &MakeLrDecayedEarly},
    {"lr/zero", "The learning rate is zero", &MakeLrZero},
    {"memory/climbs", "The job's private memory rises steadily", &MakeMemoryClimbs},
    {"scale/keeps-falling", "The loss scale falls without end", &MakeScaleKeepsFalling},
    {"swap/thrashing", "The machine pages", &MakeSwapThrashing},
    {"update/ratio-too-large", "Updates are a large part of the weights", &MakeUpdateRatioTooLarge},
    {"update/ratio-too-small", "Updates are tiny beside the weights", &MakeUpdateRatioTooSmall},
    {"weights/initial-scale", "Weights begin far too large or too small", &MakeWeightsInitialScale},
    {"weights/outgrown", "The first steps blow the weights up", &MakeWeightsOutgrown},
    {"weights/unchanged", "Not one weight moves", &MakeWeightsUnchanged},
    {"weights/vanished", "Most weights shrank to next to nothing", &MakeWeightsVanished},
};

}  // namespace

std::span<const DetectorEntry> AllDetectors() { return kDetectors; }

}  // namespace whystop
