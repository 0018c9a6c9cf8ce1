#pragma once

#include <string>
#include <vector>

namespace whystop {

/// What a program prints, up to a few KiB; empty where it cannot be started or says nothing.
std::string OutputOf(std::vector<std::string> command);

}  // namespace whystop
