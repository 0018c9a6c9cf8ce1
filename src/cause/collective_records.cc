#include "cause/collective_records.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "cause/evidence.h"
#include "model/observations.h"

namespace whystop {
namespace {

/// The record of one rank in one process group.
struct RankRecord {
  int rank = 0;
  seen::Collectives told;

  std::int64_t sequence() const { return told.sequence.value_or(0); }
  bool Ended() const { return told.state.value_or("") == "completed"; }
  std::string Call() const { return told.call.value_or("a collective"); }
  std::string Where() const {
    const std::string file = told.file.value_or("");
    return file.empty() ? "" : fmt::format(" at {}:{} in {}", file.substr(file.rfind('/') + 1), told.line.value_or(0),
                                           told.function.value_or(""));
  }
  Place place() const { return {told.file.value_or(""), told.line.value_or(0)}; }
};

std::map<std::string, std::vector<RankRecord>> ReadRecords(const CaseFile& run) {
  std::map<std::string, std::vector<RankRecord>> groups;
  for (const Observation& observation : run.observations) {
    if (observation.kind == "collectives" && observation.rank) {
      const auto told = As<seen::Collectives>(observation);
      groups[told.group.value_or("")].push_back({*observation.rank, told});
    }
  }
  return groups;
}

std::string ListOf(const std::vector<int>& ranks) {
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(ranks[i]);
  }
  return text;
}

Evidence At(Evidence evidence, const RankRecord& record) {
  evidence.place = record.place();
  return evidence;
}

/// Those that did not begin what another one waits in.
std::vector<const RankRecord*> BehindOf(const std::vector<RankRecord>& records, const RankRecord& waiting) {
  std::vector<const RankRecord*> behind;
  for (const RankRecord& record : records) {
    if (record.told.begun.value_or(0) < waiting.sequence()) {
      behind.push_back(&record);
    }
  }
  return behind;
}

const RankRecord* OtherCall(const std::vector<RankRecord>& records, const RankRecord& waiting) {
  for (const RankRecord& record : records) {
    const bool same = record.told.call == waiting.told.call && record.told.sizes == waiting.told.sizes &&
                      record.told.dtypes == waiting.told.dtypes;
    if (record.sequence() == waiting.sequence() && !record.Ended() && !same) {
      return &record;
    }
  }
  return nullptr;
}

void WeighMismatch(const RankRecord& waiting, const RankRecord& other, Hypothesis& out) {
  const auto text = [](const RankRecord& one) {
    return fmt::format("rank {} is in {} of {} ({}){}", one.rank, one.Call(), one.told.sizes.value_or(""),
                       one.told.dtypes.value_or(""), one.Where());
  };
  out.Add(At(Decisive("flight-record", fmt::format("collective {} is not the same on all ranks: {}, {}", waiting.sequence(),
                                                   text(waiting), text(other))),
             other));
}

void WeighTimeout(const std::vector<RankRecord>& records, const RankRecord& waiting, Hypothesis& out) {
  std::vector<int> waits;
  for (const RankRecord& record : records) {
    if (!record.Ended() && record.sequence() == waiting.sequence()) {
      waits.push_back(record.rank);
    }
  }
  const std::string who = fmt::format("{} wait{} in {} (number {}){}", ListOf(waits), waits.size() == 1 ? "s" : "",
                                      waiting.Call(), waiting.sequence(), waiting.Where());
  const std::vector<const RankRecord*> behind = BehindOf(records, waiting);
  if (behind.empty()) {
    const std::int64_t ranks = waiting.told.ranks.value_or(0);
    const auto missing = ranks - static_cast<std::int64_t>(records.size());
    out.Add(At(missing > 0 ? Supports("flight-record", fmt::format("{}; of {} ranks {} left no record", who, ranks, missing))
                           : Supports("flight-record", who + ", all of them, and it does not end"),
               waiting));
    return;
  }
  out.Add(At(Supports("flight-record", who), waiting));
  for (const RankRecord* record : behind) {
    out.Add(At(Decisive("flight-record", fmt::format("rank {} never began it: its last was {} (number {}){}", record->rank,
                                                     record->Call(), record->told.begun.value_or(0), record->Where())),
               *record));
  }
}

}  // namespace

void WeighCollectiveRecords(const CaseFile& run, std::string_view cause, Hypothesis& out) {
  for (const auto& [group, records] : ReadRecords(run)) {
    // The first that anybody still waits in: what comes later is its consequence.
    const RankRecord* waiting = nullptr;
    for (const RankRecord& record : records) {
      if (!record.Ended() && (waiting == nullptr || record.sequence() < waiting->sequence())) {
        waiting = &record;
      }
    }
    if (waiting == nullptr) {
      continue;
    }
    if (const RankRecord* other = OtherCall(records, *waiting)) {
      if (cause == "collective-mismatch") {
        WeighMismatch(*waiting, *other, out);
      }
    } else if (cause == "collective-timeout") {
      WeighTimeout(records, *waiting, out);
    }
  }
}

}  // namespace whystop
