#include "report/resource_report.h"

#include <fmt/format.h>

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
  out.Open("limits");
  for (const auto& [name, value] : limits) {
    out.Number(name, value);
  }
  out.Close();
}

}  // namespace whystop
