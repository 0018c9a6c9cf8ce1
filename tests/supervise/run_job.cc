// `run_job DIR COMMAND...`: RunJob with a writer whose recording is plain text, so that the tests
// of the supervisor need no other part of whystop. DIR/events has one event a line, DIR/log.N the
// bytes of stream N.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "base/fd.h"
#include "supervise/supervise.h"

namespace {

using namespace whystop;  // NOLINT: a program of one file

std::string EndText(const std::optional<ChildEnd>& end) {
  if (!end) {
    return "unknown";
  }
  return end->kind() == ChildEnd::Kind::kExited ? "exit:" + std::to_string(end->exit_code())
                                                : "signal:" + std::to_string(end->signal());
}

struct Describe {
  std::string operator()(const RunStart& e) const {
    std::string text = "start pid=" + std::to_string(e.pid) +
                       " terminal=" + std::to_string(e.terminal) + " command=";
    for (const std::string& argument : e.command) {
      text += argument + "|";
    }
    return text + " parent=" + e.parent_name + " directory=" + e.directory;
  }
  std::string operator()(const ProcessStart& e) const {
    return "process-start pid=" + std::to_string(e.pid);
  }
  std::string operator()(const ProcessEnd& e) const {
    return "process-end pid=" + std::to_string(e.pid) + " job=" + std::to_string(e.is_job) +
           " name=" + e.name + " end=" + EndText(e.end) +
           " rss=" + std::to_string(e.rss_bytes_max.value_or(-1));
  }
  std::string operator()(const SignalSeen& e) const {
    return "signal number=" + std::to_string(e.signal) +
           " forwarded=" + std::to_string(e.forwarded) +
           " kernel=" + std::to_string(e.from_kernel) +
           " sender=" + std::to_string(e.sender_pid.value_or(0)) + " name=" + e.sender_name +
           " command=" + e.sender_command;
  }
  std::string operator()(const Drop& e) const {
    return "drop " + e.counter + "=" + std::to_string(e.count);
  }
  std::string operator()(const RecorderNote& e) const { return "note " + e.text; }
  std::string operator()(const RunEnd& e) const { return "end " + EndText(e.end); }
  template <typename T>
  std::string operator()(const T& /*event*/) const {
    return "other";
  }
};

class TextWriter final : public RecordingWriter {
 public:
  explicit TextWriter(std::string directory) : directory_(std::move(directory)) {
    ::mkdir(directory_.c_str(), 0700);
    events_ = OpenFd(directory_ + "/events", O_WRONLY | O_CREAT | O_APPEND);
  }
  void Start() override {}
  void Append(const Event& event) override {
    const std::string line = std::visit(Describe{}, event.body) + "\n";
    if (events_ && line != "other\n") {
      WriteAll(events_->get(), line);
    }
  }
  void AppendLog(RunTime /*at*/, LogStream stream, std::string_view bytes) override {
    if (const Fd log = Log(stream)) {
      WriteAll(log.get(), bytes);
    }
  }
  /// A hole in the file, so that all else stands where it stood.
  void SkipLog(LogStream stream, std::int64_t bytes) override {
    const Fd log = Log(stream);
    if (log && ::ftruncate(log.get(), ::lseek(log.get(), 0, SEEK_END) + bytes) != 0) {
      std::perror("run_job: ftruncate");
    }
  }
  void AppendProbe(RunTime /*at*/, std::int64_t /*pid*/, std::string_view /*slots*/) override {}
  std::optional<std::int64_t> ProbeBytesLost() const override { return std::nullopt; }
  void Finish() override {}
  std::string fault() const override { return {}; }

 private:
  Fd Log(LogStream stream) const {
    auto log = OpenFd(directory_ + "/log." + std::to_string(static_cast<int>(stream)),
                      O_WRONLY | O_CREAT | O_APPEND);
    return log ? std::move(*log) : Fd();
  }

  std::string directory_;
  Result<Fd> events_ = Fd();
};

}  // namespace

int main(int argc, char** argv) {
  HoldStandardDescriptors();
  if (argc < 3) {
    std::fputs("usage: run_job DIR COMMAND...\n", stderr);
    return 2;
  }
  JobOptions options;
  options.command.assign(argv + 2, argv + argc);
  options.environment_set["WHYSTOP_TEST"] = "1";
  const bool keep = std::string(argv[1]) != "-";
  const auto null = RecordingWriter::Null();
  TextWriter text(keep ? argv[1] : "/dev/null");
  const JobResult result =
      RunJob(options, keep ? static_cast<RecordingWriter&>(text) : *null, nullptr);
  if (!result.fault.empty()) {
    std::fprintf(stderr, "run_job: %s\n", result.fault.c_str());
  }
  return result.exit_code;
}
