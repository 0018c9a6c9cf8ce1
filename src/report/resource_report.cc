#include "report/resource_report.h"

#include <fmt/format.h>

#include <chrono>
#include <string_view>

#include "base/human.h"
#include "view/resource_lines.h"

namespace whystop {
namespace {

std::vector<ResourceLine> LinesOf(const std::vector<Event>& sensed) {
  ResourceLines lines;
  for (const Event& event : sensed) {
    if (const auto* subject = event.As<SubjectSeen>()) {
      lines.Push(*subject);
    } else if (const auto* sample = event.As<Sample>()) {
      lines.Push(*sample, event.at);
    }
  }
  return lines.Lines();
}

std::string Amount(std::string_view unit, double value) {
  if (unit == "bytes") {
    return HumanBytes(value);
  }
  if (unit == "bytes/s") {
    return HumanBytes(value) + "/s";
  }
  return HumanNumber(value, 3) + (unit == "count" ? "" : unit == "percent" ? " %" : fmt::format(" {}", unit));
}

bool IsBytes(std::string_view limit) {
  return limit == "as" || limit == "data" || limit == "stack" || limit == "rss" || limit == "memlock" ||
         limit == "fsize" || limit == "core" || limit == "msgqueue";
}

/// The newest readings of each process.
std::map<std::int64_t, std::map<Quantity, std::int64_t>> ProcessReadings(const std::vector<Event>& sensed) {
  std::map<SubjectId, std::int64_t> processes;
  std::map<std::int64_t, std::map<Quantity, std::int64_t>> readings;
  for (const Event& event : sensed) {
    if (const auto* seen = event.As<SubjectSeen>(); seen != nullptr && seen->subject.kind == Subject::Kind::kProcess) {
      processes[seen->id] = seen->subject.number;
    }
    const auto* sample = event.As<Sample>();
    for (const Reading& reading : sample == nullptr ? std::vector<Reading>{} : sample->readings) {
      if (const auto process = processes.find(reading.subject); process != processes.end()) {
        readings[process->second][reading.quantity] = reading.value;
      }
    }
  }
  return readings;
}

/// "12 MiB resident, 8 MiB private, 3 threads": what is zero is left out.
std::string ProcessText(const std::map<Quantity, std::int64_t>& readings) {
  enum class Unit { kBytes, kCount, kMilliseconds };
  struct Part {
    Quantity quantity;
    Unit unit;
    const char* label;
  };
  constexpr Part kParts[] = {{Quantity::kProcessRssBytes, Unit::kBytes, "resident"},
                             {Quantity::kProcessAnonBytes, Unit::kBytes, "private"},
                             {Quantity::kProcessShmemBytes, Unit::kBytes, "shared"},
                             {Quantity::kProcessPssBytes, Unit::kBytes, "as its share"},
                             {Quantity::kProcessSwapBytes, Unit::kBytes, "swapped out"},
                             {Quantity::kProcessThreads, Unit::kCount, "threads"},
                             {Quantity::kProcessFds, Unit::kCount, "open files"},
                             {Quantity::kProcessReadBytes, Unit::kBytes, "read"},
                             {Quantity::kProcessWrittenBytes, Unit::kBytes, "written"},
                             {Quantity::kProcessMajorFaults, Unit::kCount, "page faults from storage"},
                             {Quantity::kProcessCpuUserMs, Unit::kMilliseconds, "of CPU in the program"},
                             {Quantity::kProcessCpuSystemMs, Unit::kMilliseconds, "in the kernel"}};
  std::string text;
  for (const Part& part : kParts) {
    const auto found = readings.find(part.quantity);
    if (found == readings.end() || found->second == 0) {
      continue;
    }
    const std::string amount = part.unit == Unit::kBytes   ? HumanBytes(static_cast<double>(found->second))
                               : part.unit == Unit::kCount ? HumanCount(found->second)
                                                           : HumanDuration(std::chrono::milliseconds(found->second));
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", amount, part.label);
  }
  return text;
}

}  // namespace

std::string RenderResources(const std::vector<Event>& sensed, const std::map<std::string, std::int64_t>& limits) {
  std::string text = "resources\n";
  std::string_view panel;
  for (const ResourceLine& line : LinesOf(sensed)) {
    text += fmt::format("    {:<16} {:<32} {}{}\n", line.panel == panel ? "" : line.panel, line.label,
                        Amount(line.unit, line.line.last()),
                        line.limit ? " of " + Amount(line.unit, *line.limit) : "");
    panel = line.panel;
  }
  for (const auto& [pid, readings] : ProcessReadings(sensed)) {
    text += fmt::format("    process {:<8} {}\n", pid, ProcessText(readings));
  }
  text += "limits of its first process\n   ";
  for (const auto& [name, value] : limits) {
    text += fmt::format(" {} {}", name, IsBytes(name) ? HumanBytes(static_cast<double>(value)) : HumanCount(value));
    text += name == limits.rbegin()->first ? "" : ",";
  }
  return text + (limits.empty() ? " none could be read\n" : "; the others are unlimited\n");
}

void WriteResources(const std::vector<Event>& sensed, const std::map<std::string, std::int64_t>& limits, JsonWriter& out) {
  out.OpenList("resources");
  for (const ResourceLine& line : LinesOf(sensed)) {
    out.Open();
    out.Text("panel", std::string(line.panel));
    out.Text("label", line.label);
    out.Text("unit", std::string(line.unit));
    out.Number("value", line.line.last());
    if (line.limit) {
      out.Number("limit", *line.limit);
    }
    out.Close();
  }
  out.CloseList();
  out.OpenList("process_resources");
  for (const auto& [pid, readings] : ProcessReadings(sensed)) {
    out.Open();
    out.Number("pid", pid);
    for (const auto& [quantity, value] : readings) {
      if (const QuantityInfo* info = FindQuantity(quantity)) {
        out.Number(info->name, value);
      }
    }
    out.Close();
  }
  out.CloseList();
  out.Open("limits");
  for (const auto& [name, value] : limits) {
    out.Number(name, value);
  }
  out.Close();
}

}  // namespace whystop
