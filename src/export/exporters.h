#pragma once

#include "export/exporter.h"

namespace whystop {

// One a format; `MakeExporter` chooses.
Result<std::unique_ptr<Exporter>> MakeCsv(const ExportSettings& settings);
Result<std::unique_ptr<Exporter>> MakeJsonLines(const ExportSettings& settings);
Result<std::unique_ptr<Exporter>> MakeSqlite(const ExportSettings& settings);
Result<std::unique_ptr<Exporter>> MakeTensorBoard(const ExportSettings& settings);

}  // namespace whystop
