#include <fmt/core.h>

#include <map>
#include <variant>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/home.h"
#include "diagnose/analysis.h"
#include "record/recording_reader.h"
#include "report/event_json.h"
#include "stream/recording_stream.h"

namespace whystop {
namespace {

/// Prints events as they come, in pieces large enough for a pipe.
class EventPrinter final : public EventSink {
 public:
  explicit EventPrinter(std::string kind) : kind_(std::move(kind)) {}
  void Push(const Event& event) override {
    if (kind_.empty() || kind_ == KindOf(event)) {
      text_ += RenderEvent(event);
      if (text_.size() > kPieceBytes) {
        Flush();
      }
    }
  }
  void Flush() {
    Print(text_);
    text_.clear();
  }

 private:
  static constexpr std::size_t kPieceBytes = 64 << 10;
  std::string kind_;
  std::string text_;
};

/// The job's own output as it was recorded, byte for byte; a gap is told on stderr, where it cannot
/// be mistaken for it.
int PrintOutput(const std::string& recording) {
  auto reader = RecordingReader::Open(recording);
  if (!reader) {
    Complain(reader.error());
    return kExitUsage;
  }
  std::map<LogStream, std::int64_t> next;
  while (const auto record = reader->Next()) {
    if (const auto* log = std::get_if<LogBytes>(&record->body)) {
      if (log->offset > next[log->stream]) {
        Complain(
            fmt::format("{} bytes of the output were not kept", log->offset - next[log->stream]));
      }
      next[log->stream] = log->offset + static_cast<std::int64_t>(log->bytes.size());
      Print(log->bytes);
    }
  }
  return 0;
}

int PrintFindings(const std::string& recording) {
  Analysis analysis;
  auto stream = RecordingStream::Open(recording, analysis);
  if (!stream) {
    Complain(stream.error());
    return kExitUsage;
  }
  (*stream)->Finish();
  for (const Finding& finding : analysis.Findings()) {
    Print(RenderFinding(finding));
  }
  return 0;
}

/// The table behind a verdict.
int PrintRanking(const std::string& recording, bool signs) {
  Analysis analysis;
  auto stream = RecordingStream::Open(recording, analysis);
  if (!stream) {
    Complain(stream.error());
    return kExitUsage;
  }
  (*stream)->Finish();
  const Ranking ranking = analysis.Rank(/*job_alive=*/false);
  Print(signs ? RenderSigns(ranking) : RenderRanking(ranking));
  return 0;
}

}  // namespace

int Inspect(const InspectOptions& options) {
  const auto found = FindRecording(options.path);
  if (!found) {
    Complain(found.error());
    return kExitUsage;
  }
  const std::optional<std::string>& recording = *found;
  if (!recording) {
    Complain(options.path.empty() ? "no recording yet in " + HomeOfRecordings()
                                  : "'" + options.path + "' is no recording",
             "'whystop runs' lists the recordings");
    return kExitUsage;
  }
  if (options.output) {
    return PrintOutput(*recording);
  }
  if (options.findings) {
    return PrintFindings(*recording);
  }
  if (options.ranking || options.signs) {
    return PrintRanking(*recording, options.signs);
  }
  EventPrinter printer(options.kind);
  auto stream = RecordingStream::Open(*recording, printer);
  if (!stream) {
    Complain(stream.error());
    return kExitUsage;
  }
  (*stream)->Finish();
  printer.Flush();
  return 0;
}

}  // namespace whystop
