#include "cli/home.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <system_error>
#include <vector>

#include "base/clock.h"
#include "cli/recorded_run.h"
#include "record/recording_reader.h"

namespace whystop {
namespace {

namespace fs = std::filesystem;

std::string Variable(const char* name) {
  const char* value =
      std::getenv(name);  // NOLINT(concurrency-mt-unsafe): one thread, nobody sets variables.
  return value == nullptr ? "" : value;
}

/// Without a home of one's own: a folder in the temporary one, by the user's number.
std::string SharedFallback() {
  const std::string temporary = Variable("TMPDIR");
  return fmt::format("{}/whystop-{}", temporary.empty() ? "/tmp" : temporary, ::geteuid());
}

/// Where anybody may make folders, ours may have been made by somebody else.
Status CheckOwnHome(const std::string& home) {
  if (home != SharedFallback()) {
    return Ok{};
  }
  ::mkdir(home.c_str(), 0700);
  struct stat facts {};
  const bool is_folder = ::lstat(home.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode);
  if (!is_folder || facts.st_uid != ::geteuid() || (facts.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return Error{Error::Code::kNoPermission,
                 fmt::format("'{}' is not a folder of this user's alone", home),
                 "set HOME or WHYSTOP_HOME"};
  }
  return Ok{};
}

std::optional<std::string> NewestRecording() {
  std::error_code fault;
  const std::string latest = HomeOfRecordings() + "/latest";
  if (IsRecording(latest)) {
    return fs::canonical(latest, fault).string();
  }
  const auto all = ListRecordings();
  return all.empty() ? std::nullopt : std::optional(all.back().path);
}

/// Whether `typed` begins the id 20261115-221500-7f3a, or what follows one of its dashes.
bool MayBeMeant(std::string_view id, std::string_view typed) {
  while (!id.starts_with(typed)) {
    const std::size_t dash = id.find('-');
    if (dash == id.npos) {
      return false;
    }
    id.remove_prefix(dash + 1);
  }
  return true;
}

Error Ambiguous(const std::string& name, const std::vector<std::string>& meant) {
  constexpr std::size_t kNamed = 5;
  std::string newest;
  for (std::size_t i = meant.size(); i > 0 && meant.size() - i < kNamed; --i) {
    newest += (newest.empty() ? "" : ", ") + LastPart(meant[i - 1]);
  }
  return Error{Error::Code::kUsage,
               fmt::format("'{}' may be any of {} recordings: {}{}", name, meant.size(), newest,
                           meant.size() > kNamed ? ", ..." : ""),
               "give more of the id; 'whystop runs' lists them"};
}

}  // namespace

std::string HomeOfRecordings() {
  if (const std::string home = Variable("WHYSTOP_HOME"); !home.empty()) {
    return home;
  }
  if (const std::string state = Variable("XDG_STATE_HOME"); !state.empty()) {
    return state + "/whystop";
  }
  if (const std::string home = Variable("HOME"); !home.empty()) {
    return home + "/.local/state/whystop";
  }
  return SharedFallback();
}

Result<std::string> NewRecordingPath(int attempt) {
  const std::string home = HomeOfRecordings();
  std::error_code fault;
  fs::create_directories(home, fault);
  WS_RETURN_IF_ERROR(CheckOwnHome(home));
  const ClockReading now = ReadClocks();
  const std::time_t seconds = std::chrono::duration_cast<std::chrono::seconds>(now.wall).count();
  std::tm parts{};
  ::localtime_r(&seconds, &parts);
  char stamp[32];
  std::strftime(stamp, sizeof(stamp), "%Y%m%d-%H%M%S", &parts);
  const auto tag = static_cast<unsigned>(
      ((now.wall.count() / 1000 ^ static_cast<std::int64_t>(::getpid()) * 7919) + attempt) & 0xffff);
  const std::string path = fmt::format("{}/{}-{:04x}", home, stamp, tag);
  if (::mkdir(path.c_str(), 0700) != 0) {
    const auto code = errno == EEXIST ? Error::Code::kBusy : Error::Code::kIo;
    return Error{code, SystemError("cannot make the recording folder '" + path + "'", errno).what,
                 ""};
  }
  return path;
}

void RememberLatest(const std::string& directory) {
  std::error_code fault;
  const fs::path link = HomeOfRecordings() + "/latest";
  const fs::path fresh = link.string() + fmt::format(".{}", ::getpid());
  fs::create_directories(HomeOfRecordings(), fault);
  fs::create_symlink(fs::absolute(directory, fault), fresh, fault);
  fs::rename(fresh, link, fault);  // Replaces the old link in one step.
}

Result<std::optional<std::string>> FindRecording(const std::string& name) {
  if (name.empty()) {
    return NewestRecording();
  }
  std::error_code fault;
  if (IsRecording(name)) {
    return std::optional(name);
  }
  if (name == "-" || fs::exists(name, fault)) {
    return std::optional<std::string>();  // Standard input, or what somebody wants to be read.
  }
  std::vector<std::string> meant;
  for (const RecordedRun& run : ListRecordings()) {
    if (LastPart(run.path) == name) {
      return std::optional(run.path);
    }
    if (MayBeMeant(LastPart(run.path), name)) {
      meant.push_back(run.path);
    }
  }
  if (meant.size() > 1) {
    return Ambiguous(name, meant);
  }
  return meant.empty() ? std::optional<std::string>() : std::optional(meant.front());
}

std::string PythonBootstrap() {
  std::error_code fault;
  const fs::path program = fs::read_symlink("/proc/self/exe", fault);
  const fs::path folder = program.parent_path();
  for (const fs::path& candidate :
       {folder / "python/bootstrap", folder / "../share/whystop/python/bootstrap"}) {
    if (fs::exists(candidate / "sitecustomize.py", fault)) {
      return candidate.lexically_normal().string();
    }
  }
  return "";
}

std::string LastPart(const std::string& path) {
  fs::path whole(path);
  return whole.has_filename() ? whole.filename().string() : whole.parent_path().filename().string();
}

}  // namespace whystop
