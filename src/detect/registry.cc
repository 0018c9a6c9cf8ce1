#include "detect/detector.h"
#include "detect/detectors.h"

namespace whystop {
namespace {

// Sorted by id.
constexpr DetectorEntry kDetectors[] = {
    {"loss/trend", "What each loss and score did over the run", &MakeLossTrend},
};

}  // namespace

std::span<const DetectorEntry> AllDetectors() { return kDetectors; }

}  // namespace whystop
