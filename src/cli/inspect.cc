#include "cli/commands.h"
#include "cli/console.h"
#include "cli/home.h"
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

}  // namespace

int Inspect(const InspectOptions& options) {
  const auto recording = FindRecording(options.path);
  if (!recording) {
    Complain(options.path.empty() ? "no recording yet in " + HomeOfRecordings()
                                  : "'" + options.path + "' is no recording",
             "'whystop runs' lists the recordings");
    return kExitUsage;
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
