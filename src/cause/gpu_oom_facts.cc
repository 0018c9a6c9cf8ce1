#include "cause/gpu_oom_facts.h"

#include <algorithm>
#include <numeric>
#include <string_view>
#include <vector>

#include "base/parse.h"
#include "sign/exception_facts.h"
#include "sign/words.h"

namespace whystop {
namespace {

/// "22.78 GiB" at the start of the text.
std::optional<double> BytesAt(std::string_view text) {
  const std::size_t space = text.find(' ');
  if (space == std::string_view::npos) {
    return std::nullopt;
  }
  const auto number = ParseWhole<double>(text.substr(0, space));
  const std::string_view unit = text.substr(space + 1);
  const double factor = unit.starts_with("GiB")   ? 1073741824.0
                        : unit.starts_with("MiB") ? 1048576.0
                        : unit.starts_with("KiB") ? 1024.0
                                                  : 1.0;
  return number ? std::optional<double>(*number * factor) : std::nullopt;
}

std::optional<double> After(std::string_view text, std::string_view words) {
  const std::size_t at = text.find(words);
  return at == std::string_view::npos ? std::nullopt : BytesAt(text.substr(at + words.size()));
}

/// The figure that stands before the words: "9.28 GiB free".
std::optional<double> Before(std::string_view text, std::string_view words) {
  const std::size_t at = text.find(words);
  if (at == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view head = text.substr(0, at);
  const std::size_t unit = head.find_last_of(' ');
  const std::size_t number =
      unit == std::string_view::npos ? unit : head.find_last_of(' ', unit - 1);
  return number == std::string_view::npos ? std::nullopt : BytesAt(head.substr(number + 1));
}

/// "Process 608946 has 14.91 GiB memory in use." Each of them; our own is "this process has".
std::vector<double> NamedProcesses(std::string_view text) {
  constexpr std::string_view kWord = "Process ";
  std::vector<double> bytes;
  for (std::size_t at = text.find(kWord); at != std::string_view::npos;
       at = text.find(kWord, at + 1)) {
    if (const auto used = After(text.substr(at, 80), " has ")) {
      bytes.push_back(*used);
    }
  }
  return bytes;
}

/// What the named processes hold that are not this one. Inside a container a process does not know
/// the number that the driver knows it by, so the message calls it by that number like a stranger.
/// If what the named ones hold leaves no room for this one's share, it is one of them: the one that
/// holds just more than PyTorch does here.
double OtherProcesses(std::string_view text, const GpuOom& oom) {
  std::vector<double> named = NamedProcesses(text);
  const double sum = std::accumulate(named.begin(), named.end(), 0.0);
  const auto allocated = Before(text, " is allocated by PyTorch");
  if (text.find("this process has") != std::string_view::npos || !allocated || !oom.capacity ||
      !oom.free) {
    return sum;
  }
  constexpr double kRounding = 0.99;  // Figures are printed with two decimals.
  const double own = (*allocated + oom.reserved_unallocated.value_or(0)) * kRounding;
  if (*oom.capacity - *oom.free - sum >= own) {
    return sum;
  }
  std::sort(named.begin(), named.end());
  const auto self = std::lower_bound(named.begin(), named.end(), own);
  return self == named.end() ? sum : sum - *self;
}

std::string EvaluatingFunction(const ExceptionSeen& exception) {
  std::string found;
  for (const Frame& frame : exception.frames) {
    if (MentionsAny(frame.function, {"eval", "valid", "test", "predict", "infer"})) {
      found = frame.function;
    }
  }
  return found;
}

}  // namespace

std::optional<GpuOom> FindGpuOom(const CaseFile& run) {
  const ExceptionSeen* last = FindEndingException(run);
  const LogFact* line = run.FindLog("cuda-oom", LogFact::Role::kRoot);
  const bool raised = last != nullptr && MentionsAny(last->message, {"out of memory"}) &&
                      MentionsAny(last->type + last->message, {"cuda", "hip", "gpu"});
  if (!raised && line == nullptr) {
    return std::nullopt;
  }
  const std::string text = raised ? last->message : line->line;
  GpuOom oom;
  oom.tried = After(text, "Tried to allocate ");
  for (const std::string_view words : {"total capacity of ", "total capacty of "}) {
    const auto capacity = After(text, words);
    oom.capacity = capacity ? capacity : oom.capacity;
  }
  oom.capacity = oom.capacity ? oom.capacity : Before(text, " total capacity;");
  const auto free = After(text, "of which ");
  oom.free = free ? free : Before(text, " free;");
  oom.reserved_unallocated = Before(text, " is reserved by PyTorch but unallocated");
  if (const auto all = Before(text, " reserved in total"),
      used = Before(text, " already allocated");
      all && used) {
    oom.reserved_unallocated = *all - *used;
  }
  oom.others = OtherProcesses(text, oom);
  oom.function = raised ? EvaluatingFunction(*last) : std::string();
  return oom;
}

}  // namespace whystop
