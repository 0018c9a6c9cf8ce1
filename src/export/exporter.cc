#include "export/exporter.h"

#include "export/exporters.h"

namespace whystop {

std::optional<ExportFormat> ExportFormatOf(std::string_view name) {
  if (name == "csv") {
    return ExportFormat::kCsv;
  }
  if (name == "jsonl") {
    return ExportFormat::kJsonLines;
  }
  if (name == "sqlite") {
    return ExportFormat::kSqlite;
  }
  if (name == "tensorboard") {
    return ExportFormat::kTensorBoard;
  }
  return std::nullopt;
}

Result<std::unique_ptr<Exporter>> MakeExporter(ExportFormat format,
                                               const ExportSettings& settings) {
  switch (format) {
    case ExportFormat::kCsv:
      return MakeCsv(settings);
    case ExportFormat::kJsonLines:
      return MakeJsonLines(settings);
    case ExportFormat::kSqlite:
      return MakeSqlite(settings);
    case ExportFormat::kTensorBoard:
      break;
  }
  return MakeTensorBoard(settings);
}

}  // namespace whystop
