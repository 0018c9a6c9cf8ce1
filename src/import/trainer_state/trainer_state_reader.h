#pragma once

#include "import/byte_source.h"
#include "import/series_log.h"

namespace whystop {

/// Reads Hugging Face's trainer_state.json: the rows of `log_history` as series, the plan and
/// position as progress, the trainer's own words about its end (closing row, early-stopping
/// counter, stop flag) as facts. A file from a `checkpoint-N` folder is a picture taken in mid-run
/// and is called so.
///
/// Counters: import.json_broken.
void ReadTrainerState(ByteSource& source, SeriesLog& log);

}  // namespace whystop
