#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <system_error>

#include "cli/ask_python.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/home.h"
#include "report/json_writer.h"

namespace whystop {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFileName = "whystop.pth";

/// The hook's one line. It does nothing, and costs next to nothing, in every Python that `whystop
/// run` did not start. What it executes is fixed here, at installation: a variable of the environment
/// must not decide that, least of all in `python -I`.
std::string HookLine(const std::string& bootstrap) {
  std::string path;  // As bytes: a .pth file may be read in any encoding.
  for (const char c : bootstrap + "/from_pth.py") {
    const bool plain = c > ' ' && c < '\x7f' && c != '\'' && c != '\\';
    path += plain ? std::string(1, c) : fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  }
  return fmt::format(
      "import os; p = os.fsdecode(b'{}'); "
      "'WHYSTOP_RING_DIR' in os.environ and os.path.isfile(p) and "
      "exec(open(p).read(), {{'__file__': p, '__name__': 'whystop_from_pth'}})\n",
      path);
}

/// The folder of that Python's own packages; nullopt where it cannot be asked.
std::optional<fs::path> PackagesOf(const std::string& python) {
  const std::string text =
      OutputOf({python, "-I", "-c", "import sysconfig; print(sysconfig.get_paths()['purelib'])"});
  const fs::path folder = text.substr(0, text.find('\n'));
  std::error_code fault;
  return fs::is_directory(folder, fault) ? std::optional<fs::path>(folder) : std::nullopt;
}

int Tell(const InstallHookOptions& options, const fs::path& file, std::string_view done) {
  if (options.json) {
    JsonWriter out(2);
    out.Open();
    out.Text("file", file.string());
    out.Text("done", done);
    out.Close();
    Print(out.text() + "\n");
  } else {
    PrintShown(fmt::format("{} {}\n", done, file.string()));
  }
  return 0;
}

}  // namespace

int InstallHook(const InstallHookOptions& options) {
  const std::optional<fs::path> packages = PackagesOf(options.python);
  if (!packages) {
    Complain(fmt::format("cannot ask '{}' where its packages are", options.python),
             "name an interpreter: whystop install-hook --python /path/to/python");
    return kExitUsage;
  }
  const fs::path file = *packages / kFileName;
  std::error_code fault;
  if (options.remove) {
    const bool removed = fs::remove(file, fault);
    if (fault) {
      Complain(fmt::format("cannot remove {}: {}", file.string(), fault.message()), "");
      return kExitUsage;
    }
    return Tell(options, file, removed ? "removed" : "was not there:");
  }
  const std::string bootstrap = PythonBootstrap();
  if (bootstrap.empty()) {
    Complain("the Python part of whystop is not beside this program", "install whystop again");
    return kExitUsage;
  }
  std::ofstream out(file, std::ios::trunc);
  out << HookLine(bootstrap);
  out.close();
  if (!out) {
    Complain(fmt::format("cannot write {}", file.string()),
             "use a virtual environment of your own, or ask for the right to write there");
    return kExitUsage;
  }
  return Tell(options, file, "wrote");
}

}  // namespace whystop
