#include "cause/weigh_hang.h"

#include <fmt/format.h>

#include <chrono>
#include <map>

#include "base/human.h"
#include "base/parse.h"
#include "cause/evidence.h"
#include "cause/hang_facts.h"

namespace whystop {
namespace {

std::string Seconds(double seconds) {
  return HumanDuration(std::chrono::nanoseconds(WholeOf(seconds * 1e9)));
}

std::string ProcessText(const ProcessLook& process) {
  const std::string name = process.command.empty() ? process.name : process.command;
  return process.rank && process.ranks.value_or(1) > 1
             ? fmt::format("rank {} (process {})", *process.rank, process.pid)
             : fmt::format("process {} ({:.60})", process.pid, name);
}

/// Where a process is: the user's own innermost line, or else the innermost there is.
std::string WhereText(const ProcessLook& process, Place& place) {
  const ThreadLook* main = process.MainThread();
  if (main == nullptr || main->frames.empty()) {
    return process.unseen.empty() ? "" : process.unseen;
  }
  const Frame* own = InnermostOwn(main->frames);
  const Frame& frame = own == nullptr ? main->frames.back() : *own;
  place = {frame.file, frame.line};
  std::string text = PlaceText(frame);
  if (own != nullptr && own != &main->frames.back()) {
    text += ", inside " + PlaceText(main->frames.back());
  }
  return text;
}

/// The other processes, those at the same place together: who is where.
void TellOthers(const HangFacts& hang, const ProcessLook* told, Hypothesis& out) {
  std::map<std::string, std::vector<const ProcessLook*>> places;
  for (const ProcessLook& process : hang.processes) {
    Place place;
    const std::string where = WhereText(process, place);
    if (&process != told && !where.empty()) {
      const ThreadLook* main = process.MainThread();
      const std::string waits =
          main == nullptr || main->waits_in.empty() ? "" : ", in " + main->waits_in;
      places[where + waits].push_back(&process);
    }
  }
  constexpr std::size_t kPlacesMax = 6;
  std::size_t shown = 0;
  for (const auto& [where, processes] : places) {
    if (shown++ == kPlacesMax) {
      out.Add(Supports("stack", fmt::format("and {} more places", places.size() - kPlacesMax)));
      return;
    }
    const std::string who = processes.size() == 1
                                ? ProcessText(*processes.front())
                                : fmt::format("{} processes", processes.size());
    out.Add(Supports("stack", fmt::format("{}: {}", who, where)));
  }
}

}  // namespace

void WeighHang(const CaseFile& run, std::string_view cause, Hypothesis& out) {
  if (!HungToTheEnd(run)) {
    return;
  }
  const auto hang = ReadHang(run);
  const HangKind kind = ClassifyHang(*hang);
  if (kind.cause != cause) {
    return;
  }
  const std::string silent = fmt::format(
      "nothing happened for {} after {}; three looks found every process {} (limit: {})",
      Seconds(hang->silence_s), hang->last_sign,
      hang->how == "busy" ? "computing in the same place" : "where it was", hang->limit_reason);
  const bool sure = kind.certain && !hang->attached;
  out.Add(sure ? Decisive("hang", kind.text) : Supports("hang", kind.text));
  out.Add(Supports("hang", silent));
  if (kind.where != nullptr) {
    Place place;
    const std::string where = WhereText(*kind.where, place);
    if (!where.empty()) {
      Evidence evidence = Supports("stack", fmt::format("{}: {}", ProcessText(*kind.where), where));
      evidence.place = place;
      out.Add(std::move(evidence));
    }
  }
  TellOthers(*hang, kind.where, out);
}

}  // namespace whystop
