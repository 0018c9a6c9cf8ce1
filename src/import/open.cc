#include "import/open.h"

#include <filesystem>
#include <map>
#include <utility>

#include "import/byte_source.h"
#include "import/csv/table_reader.h"
#include "import/jsonl/jsonl_reader.h"
#include "import/series_log.h"
#include "import/split_folder.h"
#include "import/tensorboard/event_reader.h"
#include "import/trainer_state/trainer_state_reader.h"
#include "import/wandb/wandb_reader.h"

namespace whystop {
namespace {

/// Until the log reader is there to take it.
class NoConsole final : public ConsoleText {
 public:
  void Feed(std::string_view) override {}
  void Finish() override {}
};

bool IsMetricKind(FileKind kind) {
  return kind != FileKind::kTextLog && kind != FileKind::kEmpty && kind != FileKind::kOther;
}

void ReadKind(FileKind kind, ByteSource& source, SeriesLog& log) {
  switch (kind) {
    case FileKind::kTable:
      return TableReader(log).Read(source);
    case FileKind::kJsonLines:
      return ReadJsonLines(source, log);
    case FileKind::kJsonHistory:
      return ReadJsonHistory(source, log);
    case FileKind::kTrainerState:
      return ReadTrainerState(source, log);
    case FileKind::kWandb: {
      NoConsole console;
      return WandbReader(log, console).Read(source);
    }
    case FileKind::kTensorBoard:
    case FileKind::kEmpty:
    case FileKind::kTextLog:
    case FileKind::kOther:
      return;
  }
}

/// The event files of one folder, which follow one another.
Status ReadEventFolder(const std::string& folder, const std::vector<const FoundFile*>& files, EventSink& sink) {
  SeriesLog log(files.front()->path, sink);
  EventReader reader(log, SplitOfFolder(folder));
  for (const FoundFile* file : files) {
    auto source = FileSource::Open(file->path);
    if (!source) {
      return source.error();
    }
    log.SetFile(file->path);
    reader.Read(**source);
  }
  log.Finish();
  return Ok{};
}

}  // namespace

Status ReadMetricFile(const FoundFile& file, EventSink& sink) {
  if (file.kind == FileKind::kTensorBoard) {
    return ReadEventFolder(std::filesystem::path(file.path).parent_path(), {&file}, sink);
  }
  auto source = FileSource::Open(file.path);
  if (!source) {
    return source.error();
  }
  SeriesLog log(file.path, sink);
  ReadKind(file.kind, **source, log);
  log.Finish();
  return Ok{};
}

Status ReadMetricFiles(const FoundRun& run, EventSink& sink) {
  std::map<std::string, std::vector<const FoundFile*>> event_folders;
  for (const FoundFile& file : run.files) {
    if (file.kind == FileKind::kTensorBoard) {
      event_folders[std::filesystem::path(file.path).parent_path()].push_back(&file);
    } else if (IsMetricKind(file.kind)) {
      WS_RETURN_IF_ERROR(ReadMetricFile(file, sink));
    }
  }
  for (const auto& [folder, files] : event_folders) {
    WS_RETURN_IF_ERROR(ReadEventFolder(folder, files, sink));
  }
  return Ok{};
}

}  // namespace whystop
