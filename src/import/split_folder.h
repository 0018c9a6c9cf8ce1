#pragma once

#include <string>
#include <string_view>

namespace whystop {

/// The split that a folder's last name tells, as a prefix for its series: "validation/" for
/// ".../run1/validation", "train/" for ".../train", empty for any other.
std::string SplitOfFolder(std::string_view folder);

/// The folder that a run's files are counted under: without split folders ("train"), tracker
/// folders ("files", "logs", "wandb") and checkpoints ("checkpoint-500", "version_0" is a run of
/// its own).
std::string RunFolderOf(std::string_view file_path);

}  // namespace whystop
