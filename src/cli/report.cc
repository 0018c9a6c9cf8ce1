#include <fcntl.h>
#include <fmt/format.h>

#include "base/fd.h"
#include "base/human.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/view_of.h"
#include "report/html_report.h"
#include "report/json_writer.h"

namespace whystop {
namespace {

constexpr std::size_t kRunsMax = 12;

/// A report holds lines of the log and of the source: readable by its owner only, as a recording
/// is.
Status WriteWhole(const std::string& path, std::string_view text) {
  if (path == "-") {
    Print(text);
    return Ok{};
  }
  auto file = OpenFd(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (!file) {
    return file.error();
  }
  if (const int fault = WriteAll(file->get(), text); fault != 0) {
    return SystemError("cannot write '" + path + "'", fault);
  }
  return Ok{};
}

}  // namespace

int Report(const ReportOptions& options) {
  auto runs = SeeRuns(options.paths, kRunsMax);
  if (!runs) {
    Complain(runs.error());
    return kExitUsage;
  }
  if (runs->size() > kRunsMax) {
    Complain(fmt::format("{} runs found, the newest {} are shown", runs->size(), kRunsMax));
    runs->erase(runs->begin(), runs->end() - kRunsMax);
  }
  std::vector<std::string> views;
  for (SeenRun& run : *runs) {
    DrawTrials(run);
    views.push_back(RenderView(run.view, run.verdict, PagesFor(run.verdict)));
  }
  const std::string page = RenderHtml(views);
  if (const auto written = WriteWhole(options.output, page); !written) {
    Complain(written.error());
    return kExitUsage;
  }
  if (options.json) {
    JsonWriter out(2);
    out.Open();
    out.Text("file", options.output);
    out.Number("bytes", static_cast<std::int64_t>(page.size()));
    out.Number("runs", static_cast<std::int64_t>(views.size()));
    out.Close();
    Print(out.text() + "\n");
  } else if (options.output != "-") {
    Print(fmt::format("wrote {} ({})\n", options.output,
                      HumanBytes(static_cast<double>(page.size()))));
  }
  return 0;
}

}  // namespace whystop
