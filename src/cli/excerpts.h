#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "import/open.h"
#include "model/verdict.h"
#include "stream/recording_stream.h"
#include "view/log_lines.h"
#include "view/run_view.h"

namespace whystop {

/// Keeps the end of a job's output while its recording is read.
class OutputKeeper final : public OutputTap {
 public:
  void OnOutput(const char* stream, std::string_view bytes) override;
  /// No more will come: unfinished lines count.
  void Close();
  /// The end, and what stands around the places that the verdict names; for those far from the end
  /// the recording is read once more, once for each.
  std::vector<Excerpt> Excerpts(const std::string& directory, const Verdict& verdict);
  /// The last line that says something.
  std::string LastLine() const;

 private:
  void LookAgain(const std::string& directory);

  std::map<std::string, std::unique_ptr<LogLines>> streams_;
  std::set<std::pair<std::string, std::int64_t>> looked_for_;  // Also what was not there any more.
};

/// The same of the text logs of a run that whystop did not watch.
std::vector<Excerpt> ExcerptsOfFiles(const FoundRun& run, const Verdict& verdict);

/// The user's own source around the places that the verdict and the last exception name, as the
/// files are now.
std::vector<Excerpt> ExcerptsOfSources(const RunView& view, const Verdict& verdict);

}  // namespace whystop
