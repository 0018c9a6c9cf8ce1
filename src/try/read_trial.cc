#include "try/read_trial.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "base/fd.h"
#include "base/parse.h"
#include "model/event.h"
#include "record/recording_folder.h"
#include "stream/recording_stream.h"

namespace whystop {
namespace {

namespace fs = std::filesystem;
constexpr std::size_t kPointsMax = 100000;

class TrialSink final : public EventSink {
 public:
  explicit TrialSink(Trial& trial) : trial_(trial) {}

  void Push(const Event& event) override {
    if (const auto* scalar = event.As<Scalar>()) {
      Take(*scalar);
    } else if (const auto* seen = event.As<Observation>()) {
      Take(*seen);
    } else if (const auto* raised = event.As<ExceptionSeen>(); raised && raised->ended_process) {
      trial_.raised = raised->type + (raised->message.empty() ? "" : ": " + raised->message);
    }
  }

 private:
  void Take(const Scalar& scalar) {
    Points* points = scalar.series == "trial/task"    ? &trial_.task
                     : scalar.series == "trial/guess" ? &trial_.guess
                     : scalar.series == "trial/held"  ? &trial_.held
                     : scalar.role == SeriesRole::kTrainLoss && scalar.series == "loss" &&
                             scalar.place.file.empty()
                         ? &trial_.loss
                         : nullptr;
    if (points != nullptr && scalar.step && points->size() < kPointsMax) {
      points->push_back({*scalar.step, scalar.value});
    }
  }

  void Take(const Observation& seen) {
    if (seen.kind == "trial-change") {
      trial_.begun = true;
      // Of two changes the one that did less counts: both were wanted.
      const double applied = seen.Number("applied").value_or(0);
      const std::string* name = seen.Text("intervention");
      applied_[name == nullptr ? "" : *name] = applied;
      trial_.applied = std::min_element(applied_.begin(), applied_.end(), [](auto& a, auto& b) {
                         return a.second < b.second;
                       })->second;
      trial_.seeded = seen.Number("seeded").value_or(0) > 0;
      if (const std::string* facts = seen.Text("facts")) {
        trial_.facts = *facts;
      }
    } else if (seen.kind == "trial-survey") {
      for (const auto& [name, value] : seen.attributes) {
        if (const double* number = std::get_if<double>(&value)) {
          trial_.survey[name] = *number;
        } else {
          trial_.texts[name] = std::get<std::string>(value);
        }
      }
    } else if (seen.kind == "call-failed" && seen.Text("message") != nullptr) {
      const std::string& message = *seen.Text("message");
      if (message.find("returned nan values") != std::string::npos) {
        trial_.anomaly = message;
      }
    }
  }

  Trial& trial_;
  std::map<std::string, double> applied_;
};

}  // namespace

Trial ReadTrial(const std::string& directory) {
  Trial trial;
  trial.recording = directory;
  if (const auto spec = ReadFile(directory + "/" + kSpecFile, 4096)) {
    trial.spec = Trim(*spec);
  }
  TrialSink sink(trial);
  if (auto stream = RecordingStream::Open(directory, sink)) {
    (*stream)->Finish();
    trial.ended = (*stream)->saw_end();
  }
  std::error_code fault;
  trial.ended = trial.ended || fs::exists(directory + "/" + kToldFile, fault);
  const auto by_step = [](const Point& a, const Point& b) { return a.step < b.step; };
  for (Points* points : {&trial.loss, &trial.task, &trial.guess, &trial.held}) {
    std::stable_sort(points->begin(), points->end(), by_step);
  }
  return trial;
}

std::vector<Trial> ReadTrials(const std::string& run_directory) {
  std::vector<std::string> folders;
  std::error_code fault;
  for (const auto& entry :
       fs::directory_iterator(run_directory + "/" + kTrialsFolder, fault)) {
    if (fs::exists(entry.path() / kSpecFile, fault)) {
      folders.push_back(entry.path().string());
    }
  }
  std::sort(folders.begin(), folders.end());
  std::vector<Trial> trials;
  for (const std::string& folder : folders) {
    trials.push_back(ReadTrial(folder));
  }
  return trials;
}

}  // namespace whystop
