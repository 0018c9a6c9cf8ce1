#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace whystop {

/// Field 22 of /proc/self/stat, clock ticks after boot; 0 where /proc cannot be read.
std::uint64_t ProcessStartTicks();
/// The same from the text of a stat file.
std::uint64_t ParseStartTicks(std::string_view stat);

/// Names the namespace that this process's pid counts in (an inode number); 0 where /proc cannot be read.
std::uint32_t OwnPidNamespace();

/// Makes `<directory>/<pid>-<start>.ring` (or the next free name of docs/wire.md) with `bytes`
/// reserved on the disk. The descriptor, or -1: nothing was made.
int CreateRingFile(const char* directory, int pid, std::uint64_t start_ticks, std::size_t bytes);

/// At most `bytes_max` bytes of `text`, not ending inside a UTF-8 character.
std::string_view CutText(std::string_view text, std::size_t bytes_max);

}  // namespace whystop
