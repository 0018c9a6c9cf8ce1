#pragma once

#include <string>
#include <string_view>

namespace whystop {

/// What the name of a log says: whose output it is, and which half of it.
struct LogName {
  std::string job;           // The name without the words for a stream: "train" of "train_error.log".
  bool error_stream = false;  // "job.err", "job.e123", "train_stderr.txt".
};

/// Names of files are given by people and by schedulers: `slurm-7.out` and `slurm-7.err`, `job.o42` and
/// `job.e42` (PBS, SGE), `train_output.log` and `train_error.log`, `out_3.txt` and `err_3.txt`.
LogName ReadLogName(std::string_view path);

}  // namespace whystop
