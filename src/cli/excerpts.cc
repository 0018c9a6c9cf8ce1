#include "cli/excerpts.h"

#include <fcntl.h>

#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "base/fd.h"

namespace whystop {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kExcerptsMax = 6;
constexpr std::int64_t kTextBytesMax = std::int64_t{512} << 20;

std::set<std::pair<std::string, std::int64_t>> PlacesOf(const Verdict& verdict) {
  std::set<std::pair<std::string, std::int64_t>> places;
  for (const VerdictCause& cause : verdict.causes) {
    for (const Evidence& evidence : cause.evidence) {
      if (!evidence.place.file.empty() && evidence.place.line > 0) {
        places.emplace(evidence.place.file, evidence.place.line);
      }
    }
  }
  return places;
}

/// Reads only the output of a recording.
class SecondLook final : public OutputTap, public EventSink {
 public:
  explicit SecondLook(std::map<std::string, std::unique_ptr<LogLines>>& streams)
      : streams_(streams) {}
  void OnOutput(const char* stream, std::string_view bytes) override {
    if (const auto found = streams_.find(stream); found != streams_.end()) {
      found->second->Feed(bytes);
    }
  }
  void Push(const Event&) override {}

 private:
  std::map<std::string, std::unique_ptr<LogLines>>& streams_;
};

Excerpt ExcerptOfFile(const std::string& path, const std::set<std::int64_t>& marks) {
  LogLines lines(path);
  for (const std::int64_t line : marks) {
    lines.Mark(line);
  }
  const auto file = OpenFd(path, O_RDONLY);
  if (file) {
    std::vector<char> buffer(256 << 10);
    ssize_t size = 0;
    std::int64_t total = 0;
    while (total < kTextBytesMax && (size = ReadSome(file->get(), buffer)) > 0) {
      lines.Feed({buffer.data(), static_cast<std::size_t>(size)});
      total += size;
    }
  }
  return lines.Finish();
}

std::string NoteOf(const std::string& path, std::chrono::nanoseconds run_started) {
  std::error_code fault;
  const auto written = fs::last_write_time(path, fault);
  if (fault) {
    return "";
  }
  const auto wall = std::chrono::file_clock::to_sys(written).time_since_epoch();
  return wall > run_started ? "changed since the run began" : "";
}

}  // namespace

void OutputKeeper::OnOutput(const char* stream, std::string_view bytes) {
  auto& lines = streams_[stream];
  if (!lines) {
    lines = std::make_unique<LogLines>(stream);
  }
  lines->Feed(bytes);
}

void OutputKeeper::Close() {
  for (const auto& [name, lines] : streams_) {
    lines->Finish();
  }
}

void OutputKeeper::LookAgain(const std::string& directory) {
  std::map<std::string, std::unique_ptr<LogLines>> again;
  for (const auto& [name, lines] : streams_) {
    again[name] = std::make_unique<LogLines>(name);
    for (const std::int64_t line : lines->Now().marked) {
      again[name]->Mark(line);
    }
  }
  SecondLook look(again);
  if (auto stream = RecordingStream::Open(directory, look, &look)) {
    (*stream)->Finish();
    for (const auto& [name, lines] : streams_) {
      lines->TakeAround(*again[name]);
    }
  }
}

std::vector<Excerpt> OutputKeeper::Excerpts(const std::string& directory, const Verdict& verdict) {
  bool look_again = false;
  for (const auto& [file, line] : PlacesOf(verdict)) {
    if (const auto found = streams_.find(file); found != streams_.end()) {
      found->second->Mark(line);
      look_again =
          look_again || (!found->second->Holds(line) && looked_for_.emplace(file, line).second);
    }
  }
  if (look_again) {
    LookAgain(directory);
  }
  std::vector<Excerpt> excerpts;
  for (const auto& [name, lines] : streams_) {
    excerpts.push_back(lines->Now());
  }
  return excerpts;
}

std::string OutputKeeper::LastLine() const {
  std::string last;
  for (const auto& [name, lines] : streams_) {
    const Excerpt now = lines->Now();
    for (auto line = now.lines.rbegin(); line != now.lines.rend(); ++line) {
      if (!line->text.empty()) {
        last = line->text;
        break;
      }
    }
  }
  return last;
}

std::vector<Excerpt> ExcerptsOfFiles(const FoundRun& run, const Verdict& verdict) {
  std::map<std::string, std::set<std::int64_t>> marks;
  for (const auto& [file, line] : PlacesOf(verdict)) {
    marks[file].insert(line);
  }
  std::vector<Excerpt> excerpts;
  for (const FoundFile& file : run.files) {
    if (file.kind == FileKind::kTextLog && excerpts.size() < kExcerptsMax) {
      excerpts.push_back(ExcerptOfFile(file.path, marks[file.path]));
    }
  }
  return excerpts;
}

std::vector<Excerpt> ExcerptsOfSources(const RunView& view, const Verdict& verdict) {
  if (!view.start) {
    return {};
  }
  auto places = PlacesOf(verdict);
  for (const Place& frame : view.frames) {
    places.emplace(frame.file, frame.line);
  }
  std::vector<Excerpt> excerpts;
  for (const auto& [file, line] : places) {
    std::error_code fault;
    const std::string path = (fs::path(view.start->directory) / file).string();
    if (excerpts.size() >= kExcerptsMax || !fs::is_regular_file(path, fault)) {
      continue;
    }
    Excerpt excerpt = SourceAround(path, line);
    if (!excerpt.lines.empty()) {
      excerpt.note = NoteOf(path, view.start->wall);
      excerpts.push_back(std::move(excerpt));
    }
  }
  return excerpts;
}

}  // namespace whystop
