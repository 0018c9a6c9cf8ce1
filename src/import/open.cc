#include "import/open.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/fd.h"
#include "import/byte_source.h"
#include "import/csv/table_reader.h"
#include "import/flight_recorder/flight_reader.h"
#include "import/jsonl/jsonl_reader.h"
#include "import/plain_log/plain_log.h"
#include "import/series_log.h"
#include "import/split_folder.h"
#include "import/tensorboard/event_reader.h"
#include "import/trainer_state/trainer_state_reader.h"
#include "import/wandb/log_console.h"
#include "model/observation_kind.h"

namespace whystop {
namespace {

/// Passes events on, but keeps back how each file ends: a run has one end.
class OneEnd final : public EventSink {
 public:
  explicit OneEnd(EventSink& sink) : sink_(sink) {}

  void Push(const Event& event) override {
    const TextEnd* end = event.As<TextEnd>();
    if (end == nullptr) {
      Note(event);
      sink_.Push(event);
      return;
    }
    if (raised_ && raised_->file == end->place.file) {
      raised_at_the_end_ = end->place.line - raised_->line <= kWordsAfterLines;
    }
    // What a program says of its own completion beats silence; otherwise the later file (a log)
    // knows better.
    const bool was_completed = end_ && end_->As<TextEnd>()->kind == TextEnd::Kind::kCompleted;
    if (!was_completed || end->kind == TextEnd::Kind::kCompleted) {
      end_ = event;
    }
  }
  void Finish(std::optional<std::chrono::seconds> age) {
    if (end_) {
      TextEnd& end = std::get<TextEnd>(end_->body);
      end.age = age;
      // Whatever standard output says: the last words on standard error are an exception.
      if (end.kind == TextEnd::Kind::kCompleted && raised_ && raised_at_the_end_ && !several_runs_ &&
          raised_->file != end.place.file) {
        end.kind = TextEnd::Kind::kSilent;
      }
      sink_.Push(*end_);
    }
  }

 private:
  static constexpr std::int64_t kWordsAfterLines = 3;

  void Note(const Event& event) {
    if (const auto* exception = event.As<ExceptionSeen>(); exception != nullptr && exception->ended_process) {
      raised_ = Place{.file = exception->place.file, .line = exception->last_line};
    } else if (const auto* seen = event.As<Observation>(); seen != nullptr && seen->kind == kSessionStart) {
      several_runs_ = true;  // The exception may be of another one.
    }
  }

  EventSink& sink_;
  std::optional<Event> end_;
  std::optional<Place> raised_;  // The last line of an exception that ended the program.
  bool raised_at_the_end_ = false;
  bool several_runs_ = false;
};

/// Passes on each series from the first file that holds it: a run's table and its event files tell
/// the same points.
class OneFileASeries final : public EventSink {
 public:
  OneFileASeries(EventSink& sink, bool only_file) : sink_(sink), only_file_(only_file) {}
  void NextFile() { ++file_; }

  void Push(const Event& event) override {
    const Scalar* scalar = only_file_ ? nullptr : event.As<Scalar>();
    if (scalar != nullptr && files_.size() < SeriesLog::kSeriesMax &&
        files_.emplace(scalar->series, file_).first->second != file_) {
      return;
    }
    sink_.Push(event);
  }

 private:
  EventSink& sink_;
  bool only_file_;
  std::unordered_map<std::string, int> files_;
  int file_ = 0;
};

/// Counts how often another run begins in a file.
class SessionCount final : public EventSink {
 public:
  void Push(const Event& event) override {
    const Observation* seen = event.As<Observation>();
    count_ += seen != nullptr && seen->kind == kSessionStart ? 1 : 0;
  }
  int count() const { return count_; }

 private:
  int count_ = 0;
};

/// Passes on what follows the `count`th beginning of another run.
class AfterSessions final : public EventSink {
 public:
  AfterSessions(EventSink& sink, int count) : sink_(sink), left_(count) {}

  void Push(const Event& event) override {
    if (left_ == 0 || event.As<TextEnd>() != nullptr) {
      sink_.Push(event);
    } else if (const Observation* seen = event.As<Observation>(); seen != nullptr && seen->kind == kSessionStart) {
      --left_;
    }
  }

 private:
  EventSink& sink_;
  int left_;
};

void ReadSource(FileKind kind, ByteSource& source, SeriesLog& log) {
  switch (kind) {
    case FileKind::kTable:
      return TableReader(log).Read(source);
    case FileKind::kJsonLines:
      return ReadJsonLines(source, log);
    case FileKind::kJsonHistory:
      return ReadJsonHistory(source, log);
    case FileKind::kTrainerState:
      return ReadTrainerState(source, log);
    case FileKind::kWandb:
    case FileKind::kTensorBoard:
    case FileKind::kFlightRecord:
    case FileKind::kEmpty:
    case FileKind::kTextLog:
    case FileKind::kOther:
      return;
  }
}

/// The event files of one folder, which follow one another.
Status ReadEventFolder(const std::string& folder, const std::vector<const FoundFile*>& files,
                       EventSink& sink) {
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

Status ReadEventFiles(const FoundRun& run, OneFileASeries& sink) {
  std::map<std::string, std::vector<const FoundFile*>> folders;
  for (const FoundFile& file : run.files) {
    if (file.kind == FileKind::kTensorBoard) {
      folders[std::filesystem::path(file.path).parent_path().string()].push_back(&file);
    }
  }
  for (const auto& [folder, files] : folders) {
    sink.NextFile();
    WS_RETURN_IF_ERROR(ReadEventFolder(folder, files, sink));
  }
  return Ok{};
}

Status ReadOneFile(const FoundFile& file, EventSink& sink) {
  if (file.kind == FileKind::kTextLog || file.kind == FileKind::kEmpty) {
    const auto read = ReadPlainLog(file.path, sink);
    return read ? Status(Ok{}) : Status(read.error());
  }
  if (file.kind == FileKind::kFlightRecord) {
    constexpr std::size_t kRecordBytesMax = 256 << 20;
    const auto bytes = ReadFile(file.path, kRecordBytesMax);
    if (bytes) {
      ReadFlightRecord(*bytes, file.path, sink);
    }
    return bytes ? Status(Ok{}) : Status(bytes.error());
  }
  auto source = FileSource::Open(file.path);
  if (!source) {
    return source.error();
  }
  SeriesLog log(file.path, sink);
  if (file.kind == FileKind::kWandb) {
    const bool has_history = WandbReader::HasHistory(**source);
    source = FileSource::Open(file.path);
    if (!source) {
      return source.error();
    }
    LogConsole console(file.path, !has_history, sink);
    WandbReader(log, console).Read(**source);
  } else {
    ReadSource(file.kind, **source, log);
  }
  log.Finish();
  return Ok{};
}

/// A second stream of a job that was started several times, appended as the first one was: the last job's part of it. Where its
/// runs begin says nothing of the first stream, whose last job is told already.
Status ReadSecondLog(const FoundFile& file, EventSink& sink) {
  SessionCount sessions;
  WS_RETURN_IF_ERROR(ReadOneFile(file, sessions));
  AfterSessions last(sink, sessions.count());
  return ReadOneFile(file, last);
}

}  // namespace

Status ReadRun(const FoundRun& run, std::chrono::nanoseconds now, EventSink& sink) {
  OneEnd one_end(sink);
  OneFileASeries series(one_end, run.files.size() == 1);
  WS_RETURN_IF_ERROR(ReadEventFiles(run, series));
  const FoundFile* latest = nullptr;
  int logs = 0;
  for (const FoundFile& file : run.files) {
    latest = latest == nullptr || file.written > latest->written ? &file : latest;
    if (file.kind != FileKind::kTensorBoard) {
      series.NextFile();
      const bool second_log = file.kind == FileKind::kTextLog && logs++ > 0;
      WS_RETURN_IF_ERROR(second_log ? ReadSecondLog(file, series) : ReadOneFile(file, series));
    }
  }
  const bool age_tells = latest != nullptr && !latest->at_once;
  one_end.Finish(age_tells ? std::optional(std::chrono::duration_cast<std::chrono::seconds>(
                                 std::max(now - latest->written, std::chrono::nanoseconds{})))
                           : std::nullopt);
  return Ok{};
}

}  // namespace whystop
