#pragma once

#include "import/byte_source.h"
#include "import/series_log.h"

namespace whystop {

/// Reads JSON Lines: detectron2's metrics.json, DETR's log.txt, mmengine's scalars, LLaMA-Factory's
/// trainer_log.jsonl, hand-written ones. Nested objects are flattened. Runs that were appended to
/// one another are told by their counter going back. A cut last line is dropped and noted as the
/// file's end.
///
/// Counters: import.jsonl_bad_line, import.jsonl_line_too_long.
void ReadJsonLines(ByteSource& source, SeriesLog& log);

/// Reads one JSON document of metrics: an array of rows, or columns ({"loss": [..], "val_loss":
/// [..]}, as Keras' History and pandas write them).
///
/// Counters: import.json_broken.
void ReadJsonHistory(ByteSource& source, SeriesLog& log);

}  // namespace whystop
