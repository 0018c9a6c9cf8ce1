#include <fmt/format.h>

#include "base/clock.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/home.h"
#include "cli/verdict_of.h"
#include "cli/view_of.h"
#include "export/exporter.h"
#include "import/open.h"
#include "report/json_report.h"
#include "stream/recording_stream.h"

namespace whystop {
namespace {

Status ExportRecording(const std::string& directory, ExportFormat format, ExportSettings settings) {
  if (format == ExportFormat::kSqlite) {
    Verdict verdict;
    WS_RETURN_IF_ERROR(JudgeRecording(directory, verdict));
    settings.verdict = RenderJson(verdict);
  }
  auto exporter = MakeExporter(format, settings);
  if (!exporter) {
    return exporter.error();
  }
  auto stream = RecordingStream::Open(directory, **exporter);
  if (!stream) {
    return stream.error();
  }
  (*stream)->Finish();
  return (*exporter)->Finish();
}

Status ExportFiles(const std::string& path, ExportFormat format, ExportSettings settings) {
  auto found = FindRuns({path}, {}, [](std::size_t) {});
  if (!found) {
    return found.error();
  }
  if (found->runs.empty()) {
    return Error{Error::Code::kNotFound,
                 "found nothing that a training run leaves in '" + path + "'",
                 "'whystop runs' lists the recordings"};
  }
  if (format == ExportFormat::kSqlite) {
    const auto seen = SeeFiles({path}, /*views=*/0);
    settings.verdict = seen ? RenderJson(seen->back().verdict) : "";
  }
  auto exporter = MakeExporter(format, settings);
  if (!exporter) {
    return exporter.error();
  }
  if (found->runs.size() > 1) {
    Complain(fmt::format("{} runs found, the newest is exported: {}", found->runs.size(),
                         found->runs.back().name));
  }
  WS_RETURN_IF_ERROR(ReadRun(found->runs.back(), ReadClocks().wall, **exporter));
  return (*exporter)->Finish();
}

std::string DefaultPath(ExportFormat format) {
  switch (format) {
    case ExportFormat::kSqlite:
      return "run.sqlite";
    case ExportFormat::kTensorBoard:
      return "run-tensorboard";
    default:
      return "-";
  }
}

}  // namespace

int Export(const ExportOptions& options) {
  const auto format = ExportFormatOf(options.format);
  if (!format) {
    Complain("no format is called '" + options.format + "'", "csv, jsonl, sqlite or tensorboard");
    return kExitUsage;
  }
  ExportSettings settings;
  settings.path = options.output.empty() ? DefaultPath(*format) : options.output;
  settings.resources = options.resources;
  if (settings.path == "-" &&
      (*format == ExportFormat::kSqlite || *format == ExportFormat::kTensorBoard)) {
    Complain(options.format + " cannot be written to standard output", "name a place with -o");
    return kExitUsage;
  }
  const auto found = FindRecording(options.path);
  if (!found) {
    Complain(found.error());
    return kExitUsage;
  }
  const std::optional<std::string>& recording = *found;
  if (!recording && options.path.empty()) {
    Complain("no recording yet in " + HomeOfRecordings(), "'whystop export train.log' reads a log");
    return kExitUsage;
  }
  const Status done = recording ? ExportRecording(*recording, *format, settings)
                                : ExportFiles(options.path, *format, settings);
  if (!done) {
    Complain(done.error());
    return kExitUsage;
  }
  if (settings.path != "-") {
    Complain("wrote " + settings.path);
  }
  return 0;
}

}  // namespace whystop
