#include "sense/process_parse.h"

#include <algorithm>

#include "base/redact.h"
#include "sense/proc_text.h"

namespace whystop {
namespace {

/// "VmSwap:\t     123 kB": the number after `key`, times `factor`.
std::optional<std::int64_t> Keyed(std::string_view line, std::string_view key,
                                  std::int64_t factor) {
  if (!line.starts_with(key)) {
    return std::nullopt;
  }
  line.remove_prefix(key.size());
  return Scaled(TakeNumber(line), factor);
}

bool Skip(std::string_view& text, int fields) {
  for (int field = 0; field < fields; ++field) {
    if (TakeField(text).empty()) {
      return false;
    }
  }
  return true;
}

bool Take(std::string_view& text, std::int64_t& into) {
  // 2^38 ticks are 87 years, 2^38 pages a petabyte: what is larger is no reading of this file, and
  // sums over thousands of processes stay within 64 bits.
  constexpr std::int64_t kSaneMax = std::int64_t{1} << 38;
  into = TakeNumber(text).value_or(-1);
  return into >= 0 && into <= kSaneMax;
}

}  // namespace

// "4242 (python3) S 1 4242 4242 0 -1 4194560 minflt cminflt majflt cmajflt utime stime cutime
// cstime
//  priority nice num_threads itrealvalue starttime vsize rss ..."; the name may hold anything,
// also ") R 1 (", so it ends at the last bracket.
std::optional<ProcessStat> ParseProcessStat(std::string_view text) {
  const auto open = text.find('(');
  const auto close = text.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) {
    return std::nullopt;
  }
  ProcessStat out;
  const auto pid = ParseWhole<std::int64_t>(Trim(text.substr(0, open)));
  out.name = text.substr(open + 1, close - open - 1);
  std::string_view rest = Trim(text.substr(close + 1));
  const std::string_view state = TakeField(rest);
  if (!pid || state.size() != 1) {
    return std::nullopt;
  }
  out.pid = *pid;
  out.state = state.front();
  std::int64_t reaped_user = 0;
  std::int64_t reaped_system = 0;
  const bool whole = Take(rest, out.parent_pid) && Skip(rest, 7) && Take(rest, out.major_faults) &&
                     Skip(rest, 1) && Take(rest, out.user_ticks) && Take(rest, out.system_ticks) &&
                     Take(rest, reaped_user) && Take(rest, reaped_system) && Skip(rest, 2) &&
                     Take(rest, out.threads) && Skip(rest, 1) && Take(rest, out.start_ticks) &&
                     Skip(rest, 1) && Take(rest, out.rss_pages);
  out.reaped_ticks = reaped_user + reaped_system;
  return whole ? std::optional(out) : std::nullopt;
}

ProcessStatus ParseProcessStatus(std::string_view text) {
  ProcessStatus out;
  // The memory lines stand together in the middle of some sixty; jump to the first one.
  const auto first = text.find("RssAnon:");
  text.remove_prefix(std::min(first, text.size()));
  while (!text.empty() && !out.swap_bytes) {
    const std::string_view line = TakeLine(text);
    if (const auto anon = Keyed(line, "RssAnon:", 1024)) {
      out.anon_bytes = anon;
    } else if (const auto shmem = Keyed(line, "RssShmem:", 1024)) {
      out.shmem_bytes = shmem;
    } else if (const auto swap = Keyed(line, "VmSwap:", 1024)) {
      out.swap_bytes = swap;  // The last of them.
    }
  }
  return out;
}

ProcessIo ParseProcessIo(std::string_view text) {
  ProcessIo out;
  while (!text.empty()) {
    const std::string_view line = TakeLine(text);
    if (const auto read = Keyed(line, "read_bytes:", 1)) {
      out.read_bytes = read;
    } else if (const auto written = Keyed(line, "write_bytes:", 1)) {
      out.written_bytes = written;
    }
  }
  return out;
}

std::optional<std::int64_t> ParsePssBytes(std::string_view text) {
  while (!text.empty()) {
    if (const auto pss = Keyed(TakeLine(text), "Pss:", 1024)) {
      return pss;
    }
  }
  return std::nullopt;
}

std::optional<std::int64_t> ParseOpenFilesLimit(std::string_view text) {
  while (!text.empty()) {
    if (const auto limit = Keyed(TakeLine(text), "Max open files", 1)) {
      return limit;
    }
  }
  return std::nullopt;
}

void ParseChildren(std::string_view text, std::vector<pid_t>& pids) {
  while (true) {
    const auto end = text.find(' ');  // The kernel writes a blank after every pid.
    if (end == std::string_view::npos) {
      return;
    }
    if (const auto pid = ParseWhole<pid_t>(text.substr(0, end)); pid && *pid > 0) {
      pids.push_back(*pid);
    }
    text.remove_prefix(end + 1);
  }
}

bool PythonPathHolds(std::string_view environment, std::string_view folder) {
  constexpr std::string_view kName = "PYTHONPATH=";
  while (!environment.empty()) {
    const std::string_view entry = environment.substr(0, environment.find('\0'));
    environment.remove_prefix(std::min(entry.size() + 1, environment.size()));
    for (std::string_view rest = entry; entry.starts_with(kName) && !rest.empty();) {
      rest.remove_prefix(rest.size() == entry.size() ? kName.size() : 0);
      const std::string_view one = rest.substr(0, rest.find(':'));
      if (one == folder) {
        return true;
      }
      rest.remove_prefix(std::min(one.size() + 1, rest.size()));
    }
  }
  return false;
}

std::string ParseCommandLine(std::string_view text, std::size_t length_max) {
  while (!text.empty() && text.back() == '\0') {
    text.remove_suffix(1);
  }
  // A process that gave itself a title has it in one piece.
  const char between = text.find('\0') == std::string_view::npos ? ' ' : '\0';
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(between));
    words.emplace_back(word);
    text.remove_prefix(std::min(word.size() + 1, text.size()));
  }
  std::string out;
  for (const std::string& word : RedactSecrets(std::move(words))) {
    out += (out.empty() ? "" : " ") + word;
  }
  out.resize(std::min(out.size(), length_max));
  for (char& letter : out) {
    if (static_cast<unsigned char>(letter) < 0x20 || letter == 0x7f) {
      letter = '?';
    }
  }
  return out;
}

}  // namespace whystop
