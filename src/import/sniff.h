#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace whystop {

/// What a file holds, told by its content: names cannot be trusted (CSVLogger writes "training.log", DETR's JSON Lines
/// are "log.txt").
enum class FileKind {
  kEmpty,
  kTextLog,
  kTensorBoard,
  kWandb,
  kTrainerState,
  kTable,         // CSV and its relatives.
  kJsonLines,
  kJsonHistory,   // One JSON document of rows or columns.
  kOther,         // Binary, or a document that holds no run.
};

std::string_view FileKindName(FileKind kind);

/// By the first bytes of a file; 64 KiB are plenty.
FileKind SniffBytes(std::string_view head);
Result<FileKind> SniffFile(const std::string& path);

}  // namespace whystop
