#pragma once

#include <string>

#include "base/result.h"

namespace whystop {

/// Removes a recording: the files that whystop itself writes into such a folder, and then the folder if
/// nothing else is in it. What somebody else put there stays, and so does its folder. No link is
/// followed. kBusy: a whystop writes into it, or into one of its trials, and nothing was touched.
Status RemoveRecording(const std::string& directory);

}  // namespace whystop
