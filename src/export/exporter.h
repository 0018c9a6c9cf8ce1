#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/event.h"

namespace whystop {

/// Takes the events of one run and writes them in the format of another program.
class Exporter : public EventSink {
 public:
  /// All events were given: writes what is held back and closes the file.
  virtual Status Finish() = 0;
};

enum class ExportFormat { kCsv, kJsonLines, kSqlite, kTensorBoard };
std::optional<ExportFormat> ExportFormatOf(std::string_view name);

struct ExportSettings {
  std::string path;  // A file; of TensorBoard a folder; "-": standard output (CSV, JSON Lines).
  bool resources = false;  // Also what was read of the machine. (SQLite always holds it.)
  std::string verdict;     // As JSON; SQLite keeps it.
};

/// Fails when `path` cannot be made, or is there already: nothing is overwritten.
Result<std::unique_ptr<Exporter>> MakeExporter(ExportFormat format, const ExportSettings& settings);

}  // namespace whystop
