#pragma once

#include <string>
#include <vector>

#include "sense/nvml_library.h"

namespace whystop {

/// AMD's cards by the files of the amdgpu driver. `sys_root` is "/sys" outside tests. Reading may
/// hang with the card. No real card was at hand when this was written: tested on a fake root.
std::vector<GpuFacts> ReadAmdGpus(const std::string& sys_root);

}  // namespace whystop
