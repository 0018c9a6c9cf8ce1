#include "import/flight_recorder/flight_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "base/parse.h"
#include "import/flight_recorder/pickle.h"

namespace whystop {
namespace {

std::string_view TextAt(const PickleValue& value, std::string_view key) {
  const PickleValue* found = value.At(key);
  return found == nullptr ? std::string_view() : found->Text();
}

std::int64_t WholeAt(const PickleValue& value, std::string_view key) {
  const PickleValue* found = value.At(key);
  return found == nullptr ? 0 : found->Whole();
}

/// "nccl_trace_rank_12": 12.
std::optional<int> RankOf(const std::string& path) {
  const std::size_t digits = path.find_last_not_of("0123456789");
  return digits + 1 < path.size() ? ParseWhole<int>(std::string_view(path).substr(digits + 1)) : std::nullopt;
}

/// Old versions have no `retired`: there only the state tells.
bool HasEnded(const PickleValue& entry) {
  const PickleValue* retired = entry.At("retired");
  return TextAt(entry, "state") == "completed" || (retired != nullptr && retired->Yes());
}

std::string SizesOf(const PickleValue& entry) {
  const PickleValue* sizes = entry.At("input_sizes");
  std::string text;
  for (std::size_t i = 0; sizes != nullptr && i < sizes->size() && i < 8; ++i) {
    std::string one;
    for (std::size_t j = 0; j < sizes->At(i)->size(); ++j) {
      one += (j == 0 ? "" : "x") + std::to_string(sizes->At(i)->At(j)->Whole());
    }
    text += (i == 0 ? "[" : ", [") + one + "]";
  }
  return text;
}

std::string DtypesOf(const PickleValue& entry) {
  const PickleValue* types = entry.At("input_dtypes");
  std::string text;
  for (std::size_t i = 0; types != nullptr && i < types->size() && i < 8; ++i) {
    text += (i == 0 ? "" : ", ") + std::string(types->At(i)->Text());
  }
  return text;
}

/// Frames stand innermost first.
const PickleValue* OwnFrame(const PickleValue& entry) {
  const PickleValue* frames = entry.At("frames");
  for (std::size_t i = 0; frames != nullptr && i < frames->size(); ++i) {
    const std::string_view file = TextAt(*frames->At(i), "filename");
    const bool library = file.find("-packages/") != std::string_view::npos ||
                         file.find("/lib/python3") != std::string_view::npos || file.starts_with('<') ||
                         file.find("/whystop_probe/") != std::string_view::npos;
    if (!file.empty() && !library) {
      return frames->At(i);
    }
  }
  return nullptr;
}

/// How many ranks a group has; 0: not known. `ranks` is a text, "[0, 1]".
std::int64_t RanksOf(const PickleValue& dump, std::string_view group) {
  const PickleValue* all = dump.At("pg_config");
  const PickleValue* own = all == nullptr ? nullptr : all->At(group);
  if (own == nullptr && all != nullptr) {
    own = all->OnlyOne();  // A default group without a name.
  }
  const std::string_view ranks = own == nullptr ? std::string_view() : TextAt(*own, "ranks");
  return ranks.size() < 3 ? 0 : std::count(ranks.begin(), ranks.end(), ',') + 1;
}

struct Group {
  std::int64_t entries = 0;
  std::int64_t done = 0;
  std::int64_t begun = 0;
  const PickleValue* pending = nullptr;  // The first that did not end...
  const PickleValue* last = nullptr;     // ...and the newest of all.
};

void Count(const PickleValue& entry, Group& group) {
  const std::int64_t sequence = WholeAt(entry, "collective_seq_id");
  ++group.entries;
  if (sequence >= group.begun) {
    group.begun = sequence;
    group.last = &entry;
  }
  if (HasEnded(entry)) {
    group.done = std::max(group.done, sequence);
  } else if (group.pending == nullptr || sequence < WholeAt(*group.pending, "collective_seq_id")) {
    group.pending = &entry;
  }
}

Observation Describe(const Group& group, const std::string& name, std::int64_t ranks, const std::string& path) {
  const PickleValue& entry = group.pending != nullptr ? *group.pending : *group.last;
  Observation out;
  out.kind = "collectives";
  out.rank = RankOf(path);
  auto& attributes = out.attributes;
  attributes["group"] = name;
  attributes["entries"] = static_cast<double>(group.entries);
  attributes["done"] = static_cast<double>(group.done);
  attributes["begun"] = static_cast<double>(group.begun);
  if (ranks > 0) {
    attributes["ranks"] = static_cast<double>(ranks);
  }
  attributes["sequence"] = static_cast<double>(WholeAt(entry, "collective_seq_id"));
  attributes["call"] = std::string(TextAt(entry, "profiling_name"));
  attributes["state"] = group.pending == nullptr ? std::string("completed") : std::string(TextAt(entry, "state"));
  attributes["sizes"] = SizesOf(entry);
  attributes["dtypes"] = DtypesOf(entry);
  attributes["source_file"] = path;
  if (const PickleValue* own = OwnFrame(entry)) {
    attributes["file"] = std::string(TextAt(*own, "filename"));
    attributes["line"] = static_cast<double>(WholeAt(*own, "line"));
    attributes["function"] = std::string(TextAt(*own, "name"));
  }
  return out;
}

}  // namespace

bool IsFlightRecord(std::string_view head) {
  return head.starts_with("\x80") && head.find("pg_config") != std::string_view::npos &&
         head.find("entries") != std::string_view::npos;
}

void ReadFlightRecord(std::string_view bytes, const std::string& path, EventSink& sink) {
  Pickle pickle;
  const PickleValue* dump = pickle.Read(bytes);
  const PickleValue* entries = dump == nullptr ? nullptr : dump->At("entries");
  if (entries == nullptr) {
    sink.Push({RunTime{}, Drop{"import.flight_record_broken", 1}});
    return;
  }
  constexpr std::size_t kGroupsMax = 256;
  std::map<std::string, Group> groups;
  for (std::size_t i = 0; i < entries->size(); ++i) {
    const PickleValue& entry = *entries->At(i);
    const PickleValue* is_p2p = entry.At("is_p2p");
    const PickleValue* group = entry.At("process_group");
    if (is_p2p != nullptr && is_p2p->Yes()) {
      continue;  // Two ranks alone; the others have no such number.
    }
    const std::string name(group == nullptr || group->At(std::size_t{0}) == nullptr ? "" : group->At(std::size_t{0})->Text());
    if (groups.size() < kGroupsMax || groups.contains(name)) {
      Count(entry, groups[name]);
    }
  }
  for (const auto& [name, group] : groups) {
    sink.Push({RunTime{}, Describe(group, name, RanksOf(*dump, name), path)});
  }
}

}  // namespace whystop
