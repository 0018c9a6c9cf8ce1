#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <system_error>

#include "cli/ask_python.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/home.h"
#include "report/json_writer.h"

namespace whystop {
namespace {

namespace fs = std::filesystem;

/// What a Python says about itself.
struct Interpreter {
  std::string executable;
  std::string version;  // "3.11"
  fs::path data;        // Where its Jupyter looks for kernels.
};

/// A virtual environment has kernels of its own; else they are the user's. As jupyter_core has it.
constexpr char kQuestion[] =
    "import importlib.util, os, sys\n"
    "found = importlib.util.find_spec('ipykernel') is not None\n"
    "own = sys.prefix != sys.base_prefix\n"
    "home = os.environ.get('JUPYTER_DATA_DIR') or os.path.join(os.environ.get('XDG_DATA_HOME') or "
    "os.path.expanduser('~/.local/share'), 'jupyter')\n"
    "print(sys.executable)\n"
    "print('%d.%d' % sys.version_info[:2])\n"
    "print(os.path.join(sys.prefix, 'share', 'jupyter') if own else home)\n"
    "print('yes' if found else 'no')\n";

Result<Interpreter> Ask(const std::string& python) {
  std::string text = OutputOf({python, "-c", kQuestion});
  std::vector<std::string> lines;
  for (std::size_t end = text.find('\n'); end != text.npos; end = text.find('\n')) {
    lines.push_back(text.substr(0, end));
    text.erase(0, end + 1);
  }
  if (lines.size() != 4) {
    return Error{Error::Code::kUsage, "cannot ask '" + python + "' about its kernels",
                 "name an interpreter: whystop install-kernel --python /path/to/python"};
  }
  if (lines[3] != "yes") {
    return Error{Error::Code::kNotFound, "'" + python + "' has no ipykernel",
                 fmt::format("{} -m pip install ipykernel", python)};
  }
  return Interpreter{lines[0], lines[1], lines[2]};
}

std::string KernelSpec(const Interpreter& python, const std::string& whystop) {
  JsonWriter out(2);
  out.Open();
  out.Texts("argv", {whystop, "run", "--quiet", "--", python.executable, "-m", "ipykernel_launcher", "-f",
                     "{connection_file}"});
  out.Text("display_name", fmt::format("Python {} (whystop)", python.version));
  out.Text("language", "python");
  out.Text("interrupt_mode", "signal");
  out.Close();
  return out.text() + "\n";
}

int Tell(const InstallKernelOptions& options, const fs::path& file, std::string_view done) {
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

int InstallKernel(const InstallKernelOptions& options) {
  const auto python = Ask(options.python);
  if (!python) {
    Complain(python.error());
    return kExitUsage;
  }
  const fs::path data = options.prefix.empty() ? python->data : fs::path(options.prefix) / "share/jupyter";
  const fs::path folder = data / "kernels" / options.name;
  const fs::path file = folder / "kernel.json";
  std::error_code fault;
  if (options.remove) {
    const bool removed = fs::remove(file, fault);
    fs::remove(folder, fault);  // Stays where somebody put more into it.
    return Tell(options, file, removed ? "removed" : "was not there:");
  }
  fs::create_directories(folder, fault);
  std::ofstream out(file, std::ios::trunc);
  out << KernelSpec(*python, fs::read_symlink("/proc/self/exe", fault).string());
  out.close();
  if (!out) {
    Complain(fmt::format("cannot write {}", file.string()), "name another place with --prefix");
    return kExitUsage;
  }
  return Tell(options, file, "wrote");
}

}  // namespace whystop
