#include "stream/crash_place.h"

#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <utility>

#include "symbol/elf_file.h"
#include "symbol/function_at.h"
#include "symbol/line_at.h"

namespace whystop {
namespace {

constexpr std::size_t kProcessesMax = 4096;

/// The number behind `word`, and what follows it.
template <typename T>
std::optional<T> NumberBehind(std::string_view& text, std::string_view word, int base) {
  const std::size_t at = text.find(word);
  if (at == std::string_view::npos) {
    return std::nullopt;
  }
  text.remove_prefix(at + word.size());
  T number{};
  const auto end = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (end.ec != std::errc()) {
    return std::nullopt;
  }
  text.remove_prefix(static_cast<std::size_t>(end.ptr - text.data()));
  return number;
}

std::optional<std::chrono::nanoseconds> ChangedAt(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) {
    return std::nullopt;
  }
  return std::chrono::seconds(info.st_mtim.tv_sec) + std::chrono::nanoseconds(info.st_mtim.tv_nsec);
}

}  // namespace

std::optional<KernelCrash> ParseKernelCrash(std::string_view line) {
  KernelCrash out;
  std::string_view rest = line;
  const auto pid = NumberBehind<std::int64_t>(rest, "[", 10);
  if (!pid || !rest.starts_with(']')) {
    return std::nullopt;
  }
  out.pid = *pid;
  rest.remove_prefix(std::min(rest.find(" ip"), rest.size()));  // "ip 55e3" of a fault, "ip:55e3" of a trap.
  rest.remove_prefix(std::min<std::size_t>(3, rest.size()));
  const auto instruction = NumberBehind<std::uint64_t>(rest, rest.starts_with(':') ? ":" : " ", 16);
  const std::size_t in = rest.find(" in ");
  const std::size_t open = rest.find('[', in);
  if (!instruction || in == std::string_view::npos || open == std::string_view::npos) {
    return std::nullopt;
  }
  out.instruction = *instruction;
  out.module = rest.substr(in + 4, open - in - 4);
  rest.remove_prefix(open);
  const std::string_view numbers = rest.substr(0, rest.find(']'));
  std::string_view place = numbers;
  if (numbers.find(',') != std::string_view::npos) {
    out.file_offset = NumberBehind<std::uint64_t>(place, "[", 16);
  }
  const auto begin = NumberBehind<std::uint64_t>(place, out.file_offset ? "," : "[", 16);
  const auto bytes = NumberBehind<std::uint64_t>(place, "+", 16);
  if (!begin || !bytes || out.instruction < *begin || out.instruction - *begin >= *bytes) {
    return std::nullopt;
  }
  out.mapped_at = *begin;
  out.mapped_bytes = *bytes;
  return out;
}

void CrashPlaces::Push(const Event& event) {
  out_.Push(event);
  if (const auto* start = event.As<RunStart>()) {
    start_ = *start;
  } else if (const auto* process = event.As<ProcessStart>()) {
    if (processes_.size() < kProcessesMax && !process->command.empty()) {
      processes_.push_back(*process);
    }
  } else if (const auto* line = event.As<KernelLine>()) {
    if (const auto crash = ParseKernelCrash(line->text)) {
      Take(*crash, event.at);
    }
  }
}

/// The program of the process that crashed: the first word of its command, as seen from the job's folder.
std::optional<std::string> CrashPlaces::PathOf(const KernelCrash& crash) const {
  std::string word = crash.pid == start_.pid && !start_.command.empty() ? start_.command.front() : std::string();
  for (const ProcessStart& process : processes_) {
    word = process.pid == crash.pid ? process.command.substr(0, process.command.find(' ')) : word;
  }
  if (word.find('/') == std::string::npos) {
    return std::nullopt;  // Found by the shell's PATH: a system's program.
  }
  const std::string path = (std::filesystem::path(start_.directory) / word).string();
  const auto changed = ChangedAt(path);
  return changed && *changed <= start_.wall && std::filesystem::path(path).filename().string().starts_with(crash.module) ? std::optional(path) : std::nullopt;
}

void CrashPlaces::Take(const KernelCrash& crash, RunTime at) {
  const auto path = PathOf(crash);
  const auto file = path ? ElfFile::Open(*path) : Result<ElfFile>(Error{});
  if (!file) {
    return;
  }
  std::optional<std::uint64_t> offset = crash.file_offset;
  if (!offset) {
    const auto begin = file->CodeOffset(crash.mapped_bytes);
    offset = begin ? std::optional(*begin + crash.instruction - crash.mapped_at) : std::nullopt;
  }
  const auto address = offset ? file->AddressOf(*offset) : std::nullopt;
  const std::string function = address ? FunctionAt(*file, *address) : std::string();
  if (function.empty()) {
    return;
  }
  Observation seen;
  seen.kind = "crash-place";
  seen.attributes = {{"module", *path}, {"function", function}};
  if (const auto source = LineAt(*file, *address)) {
    seen.attributes["file"] = source->file;
    seen.attributes["line"] = static_cast<double>(source->line);
  }
  out_.Push(Event{.at = at, .body = std::move(seen)});
}

}  // namespace whystop
