#pragma once

#include <memory>

#include "detect/detector.h"

namespace whystop {

// Every detector's factory, sorted; each is defined in src/detect/<name>/<name>.cc.
std::unique_ptr<Detector> MakeLossTrend();

}  // namespace whystop
