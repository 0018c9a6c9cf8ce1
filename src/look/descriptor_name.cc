#include "look/descriptor_name.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/parse.h"

namespace whystop {
namespace {

std::optional<std::string> LinkOf(const std::string& path) {
  std::array<char, 1024> text{};
  const ssize_t size = ::readlink(path.c_str(), text.data(), text.size());
  return size > 0 ? std::optional(std::string(text.data(), static_cast<std::size_t>(size)))
                  : std::nullopt;
}

std::vector<std::string_view> Words(std::string_view line) {
  std::vector<std::string_view> words;
  while (!(line = Trim(line)).empty()) {
    const std::size_t end = std::min(line.find(' '), line.size());
    words.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
  return words;
}

/// "0100007F:1F90" as /proc/net/tcp has it: words of the address in the machine's byte order.
std::string PeerText(std::string_view text) {
  const std::size_t colon = text.find(':');
  unsigned port = 0;
  if (colon == std::string_view::npos ||
      std::from_chars(text.data() + colon + 1, text.data() + text.size(), port, 16).ec !=
          std::errc{}) {
    return {};
  }
  std::array<std::uint32_t, 4> words{};
  const std::size_t count = colon / 8;
  for (std::size_t i = 0; i < count && i < words.size(); ++i) {
    std::from_chars(text.data() + 8 * i, text.data() + 8 * i + 8, words[i], 16);
  }
  std::array<char, INET6_ADDRSTRLEN> name{};
  const bool is_v4 = count == 1;
  const bool mapped = count == 4 && words[0] == 0 && words[1] == 0 && words[2] == htonl(0xffff);
  const void* address = mapped ? &words[3] : words.data();
  if (::inet_ntop(is_v4 || mapped ? AF_INET : AF_INET6, address, name.data(), name.size()) ==
      nullptr) {
    return {};
  }
  return fmt::format("{}:{}", name.data(), port);
}

/// The socket of that inode in one table of /proc/PID/net.
std::string SocketIn(pid_t pid, const char* table, std::string_view inode) {
  const auto text = ReadFile(fmt::format("/proc/{}/net/{}", pid, table), 8 << 20);
  std::string_view rest = text ? std::string_view(*text) : std::string_view();
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const auto words = Words(rest.substr(0, end));
    rest.remove_prefix(std::min(rest.size(), end + 1));
    constexpr std::size_t kPeer = 2, kState = 3, kInode = 9;
    if (words.size() > kInode && words[kInode] == inode) {
      const bool listens = words[kState] == "0A";
      return listens ? fmt::format("{} connections to {}", table, PeerText(words[kPeer - 1]))
                     : fmt::format("{} {}", table, PeerText(words[kPeer]));
    }
  }
  return {};
}

}  // namespace

std::string DescriptorName(pid_t pid, int descriptor) {
  const auto link = LinkOf(fmt::format("/proc/{}/fd/{}", pid, descriptor));
  if (!link) {
    return {};
  }
  if (link->starts_with("socket:[")) {
    const std::string_view inode = std::string_view(*link).substr(8, link->size() - 9);
    for (const char* table : {"tcp", "tcp6", "udp"}) {
      if (const std::string found = SocketIn(pid, table, inode); !found.empty()) {
        return found;
      }
    }
    return "a local socket";
  }
  if (link->starts_with("pipe:")) {
    constexpr std::array<const char*, 3> kStandard = {
        "standard input (a pipe)", "standard output (a pipe)", "standard error (a pipe)"};
    return descriptor >= 0 && descriptor <= 2 ? kStandard[static_cast<std::size_t>(descriptor)] : "a pipe";
  }
  if (link->starts_with("/dev/pts/") || link->starts_with("/dev/tty")) {
    return "the terminal " + *link;
  }
  if (link->starts_with("anon_inode:")) {
    return link->substr(std::strlen("anon_inode:"));
  }
  return descriptor == 0 ? "standard input (" + *link + ")" : *link;
}

}  // namespace whystop
