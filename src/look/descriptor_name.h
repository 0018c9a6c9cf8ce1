#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace whystop {

/// What a descriptor of another process is, for people: "/data/train.bin", "the terminal /dev/pts/3",
/// "a pipe", "tcp 10.0.0.7:443". Empty: not readable.
std::string DescriptorName(pid_t pid, int descriptor);

}  // namespace whystop
