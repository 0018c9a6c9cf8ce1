#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace whystop {

/// What a file holds, told by its content: names cannot be trusted (CSVLogger writes
/// "training.log", DETR's JSON Lines are "log.txt").
enum class FileKind {
  kEmpty,
  kTextLog,
  kTensorBoard,
  kWandb,
  kTrainerState,
  kTable,  // CSV and its relatives.
  kJsonLines,
  kJsonHistory,  // One JSON document of rows or columns.
  kFlightRecord,  // A dump of PyTorch's flight recorder, of one rank.
  kOther,        // Binary, or a document that holds no run.
};

std::string_view FileKindName(FileKind kind);

/// By the first bytes of a file; 64 KiB are plenty.
constexpr std::size_t kSniffBytes = 64 << 10;
FileKind SniffBytes(std::string_view head);
Result<FileKind> SniffFile(const std::string& path);

/// "gzip", "zstd", "xz", "bzip2", "zip", or nothing: how the file is packed.
std::string_view CompressionOf(std::string_view head);

/// Whether a table or JSON file names a loss or a learning rate, or a score beside a counter.
/// Folders hold datasets and configurations of the same shapes; a file that nobody named is only
/// taken for metrics if it speaks of training.
bool SpeaksOfTraining(FileKind kind, std::string_view head);

}  // namespace whystop
