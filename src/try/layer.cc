#include "try/layer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <set>
#include <system_error>

#include "base/fd.h"
#include "base/parse.h"

namespace whystop {
namespace {

namespace fs = std::filesystem;

constexpr char kBase[] = "/sys";  // Ours is mounted over it while the layer is made: it holds no file of the user's.
constexpr std::size_t kEntriesMax = 4096;

Status Must(int result, const std::string& what) {
  return result == 0 ? Status(Ok{}) : Status(SystemError(what, errno));
}

Status WriteText(const std::string& path, const std::string& text) {
  auto file = OpenFd(path, O_WRONLY);
  if (!file) {
    return file.error();
  }
  const int fault = WriteAll(file->get(), text);
  return fault == 0 ? Status(Ok{}) : Status(SystemError("write " + path, fault));
}

/// "\040" in mountinfo is a blank.
std::string Unescaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size()) {
      out += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + text[i + 3] - '0');
      i += 3;
    } else {
      out += text[i];
    }
  }
  return out;
}

struct Mounts {
  std::set<std::string> points;
  std::set<std::string> kernel;  // Of file systems that hold no files: /proc, /sys, /dev.
};

Mounts ReadMounts() {
  static const std::set<std::string_view> kKernel = {
      "proc",   "sysfs",  "devtmpfs", "devpts",   "cgroup",  "cgroup2",   "mqueue", "debugfs",
      "tracefs", "bpf",   "securityfs", "pstore", "configfs", "hugetlbfs", "fusectl", "binfmt_misc",
      "autofs", "nsfs"};
  Mounts mounts;
  const auto text = ReadFile("/proc/self/mountinfo", 4 << 20);
  std::string_view rest = text ? std::string_view(*text) : std::string_view();
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    std::vector<std::string_view> words;
    for (std::size_t at = 0; at < line.size();) {
      const std::size_t end = std::min(line.find(' ', at), line.size());
      words.push_back(line.substr(at, end - at));
      at = end + 1;
    }
    const auto dash = std::find(words.begin(), words.end(), "-");
    if (words.size() < 5 || words.end() - dash < 2) {
      continue;
    }
    const std::string point = Unescaped(words[4]);
    mounts.points.insert(point);
    if (kKernel.contains(*(dash + 1))) {
      mounts.kernel.insert(point);
    } else {
      mounts.kernel.erase(point);
    }
  }
  return mounts;
}

/// Builds the new root: each folder of the old one as a layer, those that hold mount points entry by
/// entry, since a layer cannot see through one.
class NewRoot {
 public:
  NewRoot(Mounts mounts, std::string base, std::string covered)
      : mounts_(std::move(mounts)), base_(std::move(base)), covered_(std::move(covered)) {}

  Status Mirror(const std::string& path) {
    const std::string target = base_ + "/new" + path;
    if (path == "/proc" || path == "/dev/shm") {
      return Ok{};  // Made anew later.
    }
    if (path == "/dev" || path == base_ || mounts_.kernel.contains(path)) {
      const std::string& from = path == base_ ? covered_ : path;
      return Must(::mount(from.c_str(), target.c_str(), nullptr, MS_BIND | MS_REC, nullptr),
                  "bind " + path);
    }
    if (!HoldsMounts(path)) {
      return Cover(path, target);
    }
    std::error_code fault;
    for (const auto& entry : fs::directory_iterator(path, fault)) {
      if (++entries_ > kEntriesMax) {
        return Error{Error::Code::kIo, "too many entries beside mount points in " + path, ""};
      }
      WS_RETURN_IF_ERROR(MirrorEntry(entry));
    }
    return Ok{};
  }

 private:
  bool HoldsMounts(const std::string& path) const {
    const std::string inside = path == "/" ? "/" : path + "/";
    const auto next = mounts_.points.upper_bound(inside);
    return path == "/" || (next != mounts_.points.end() && next->compare(0, inside.size(), inside) == 0);
  }

  Status MirrorEntry(const fs::directory_entry& entry) {
    const std::string path = entry.path().string();
    const std::string target = base_ + "/new" + path;
    std::error_code fault;
    if (entry.is_symlink(fault)) {
      fs::copy_symlink(path, target, fault);
      return Ok{};
    }
    if (entry.is_directory(fault)) {
      ::mkdir(target.c_str(), 0755);
      return Mirror(path);
    }
    if (entry.is_regular_file(fault)) {
      const Fd file(::open(target.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0644));
      return BindReadOnly(path, target);
    }
    return Ok{};
  }

  Status Cover(const std::string& path, const std::string& target) {
    const std::string upper = fmt::format("{}/upper/{}", base_, ++layers_);
    const std::string work = fmt::format("{}/scratch/{}", base_, layers_);
    struct stat status{};
    ::stat(path.c_str(), &status);
    ::mkdir(upper.c_str(), 0700);
    ::chmod(upper.c_str(), status.st_mode & 07777);
    ::mkdir(work.c_str(), 0700);
    const bool plain = path.find_first_of(",:\\") == std::string::npos;
    for (const char* more : {",userxattr", ""}) {
      const std::string data =
          fmt::format("lowerdir={},upperdir={},workdir={}{}", path, upper, work, more);
      if (plain && ::mount("overlay", target.c_str(), "overlay", 0, data.c_str()) == 0) {
        return Ok{};
      }
    }
    return BindReadOnly(path, target);  // Cannot be covered; then it cannot be written either.
  }

  static Status BindReadOnly(const std::string& path, const std::string& target) {
    if (::mount(path.c_str(), target.c_str(), nullptr, MS_BIND | MS_REC, nullptr) != 0) {
      return Ok{};  // Not reachable for us: it stays an empty folder.
    }
    // In a user namespace flags that are set on the real mount must be kept.
    for (const unsigned long keep :
         {0UL, static_cast<unsigned long>(MS_NOSUID | MS_NODEV),
          static_cast<unsigned long>(MS_NOSUID | MS_NODEV | MS_NOEXEC)}) {
      if (::mount(nullptr, target.c_str(), nullptr, MS_BIND | MS_REMOUNT | MS_RDONLY | keep,
                  nullptr) == 0) {
        return Ok{};
      }
    }
    return SystemError("make " + path + " read-only", errno);
  }

  Mounts mounts_;
  std::string base_;
  std::string covered_;  // What our own file system hides, by another name.
  int layers_ = 0;
  std::size_t entries_ = 0;
};

void RaiseLoopback() {
  const Fd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq request{};
  std::strncpy(request.ifr_name, "lo", sizeof(request.ifr_name) - 1);
  if (socket && ::ioctl(socket.get(), SIOCGIFFLAGS, &request) == 0) {
    request.ifr_flags = static_cast<short>(request.ifr_flags | IFF_UP);
    ::ioctl(socket.get(), SIOCSIFFLAGS, &request);
  }
}

}  // namespace

Status EnterNamespaces(bool network) {
  const int wanted = CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | (network ? 0 : CLONE_NEWNET);
  if (::geteuid() == 0 && ::unshare(wanted) == 0) {
    return Ok{};
  }
  const uid_t user = ::geteuid();
  const gid_t group = ::getegid();
  WS_RETURN_IF_ERROR(Must(::unshare(wanted | CLONE_NEWUSER), "make a user namespace"));
  WS_RETURN_IF_ERROR(WriteText("/proc/self/setgroups", "deny"));
  WS_RETURN_IF_ERROR(WriteText("/proc/self/uid_map", fmt::format("{} {} 1", user, user)));
  return WriteText("/proc/self/gid_map", fmt::format("{} {} 1", group, group));
}

Status MakeLayer(const LayerOptions& options) {
  WS_RETURN_IF_ERROR(Must(::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr), "make mounts private"));
  const Mounts mounts = ReadMounts();
  const std::string base = kBase;
  const Fd covered(::open(base.c_str(), O_PATH | O_CLOEXEC));
  const std::string size = fmt::format("mode=0755,size={}", options.bytes_max);
  WS_RETURN_IF_ERROR(Must(
      ::mount("tmpfs", base.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, size.c_str()), "mount tmpfs"));
  for (const char* folder : {"/new", "/upper", "/scratch"}) {
    WS_RETURN_IF_ERROR(Must(::mkdir((base + folder).c_str(), 0755), "mkdir"));
  }
  // Only a mount point can become the root.
  const std::string new_root = base + "/new";
  WS_RETURN_IF_ERROR(
      Must(::mount(new_root.c_str(), new_root.c_str(), nullptr, MS_BIND, nullptr), "bind the root"));
  NewRoot root(mounts, base, fmt::format("/proc/self/fd/{}", covered.get()));
  WS_RETURN_IF_ERROR(root.Mirror("/"));
  for (const std::string& path : options.shared) {
    const std::string target = base + "/new" + path;
    WS_RETURN_IF_ERROR(
        Must(::mount(path.c_str(), target.c_str(), nullptr, MS_BIND, nullptr), "bind " + path));
  }
  WS_RETURN_IF_ERROR(Must(::mount("proc", (base + "/new/proc").c_str(), "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr), "mount /proc"));
  ::mount("tmpfs", (base + "/new/dev/shm").c_str(), "tmpfs", MS_NOSUID | MS_NODEV, (size + ",mode=1777").c_str());
  char here[4096];
  const char* folder = ::getcwd(here, sizeof(here));
  WS_RETURN_IF_ERROR(Must(::chdir(new_root.c_str()), "enter the layer"));
  WS_RETURN_IF_ERROR(Must(static_cast<int>(::syscall(SYS_pivot_root, ".", ".")), "change the root"));
  WS_RETURN_IF_ERROR(Must(::umount2(".", MNT_DETACH), "leave the old root"));
  WS_RETURN_IF_ERROR(Must(::chdir(folder == nullptr ? "/" : folder), "return to the working folder"));
  RaiseLoopback();
  return Ok{};
}

Status LayerWorks() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    return SystemError("pipe", errno);
  }
  Fd read_end(ends[0]);
  Fd write_end(ends[1]);
  const pid_t outer = ::fork();
  if (outer == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    Status status = EnterNamespaces(/*network=*/false);
    if (status) {
      const pid_t inner = ::fork();
      if (inner == 0) {
        status = MakeLayer({.shared = {}, .bytes_max = 1 << 20, .network = false});
        WriteAll(write_end.get(), status ? "ok" : status.error().what);
        ::_exit(0);
      }
      ::waitpid(inner, nullptr, 0);
    } else {
      WriteAll(write_end.get(), status.error().what);
    }
    ::_exit(0);
  }
  write_end.Close();
  char text[512];
  std::string said;
  for (ssize_t size = 0; (size = ReadSome(read_end.get(), text)) > 0;) {
    said.append(text, static_cast<std::size_t>(size));
  }
  ::waitpid(outer, nullptr, 0);
  if (said == "ok") {
    return Ok{};
  }
  return Error{Error::Code::kNoPermission, said.empty() ? "the layer could not be made" : said, ""};
}

}  // namespace whystop
