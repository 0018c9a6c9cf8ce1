#include "report/look_report.h"

#include <fmt/format.h>

#include <map>
#include <string_view>


namespace whystop {
namespace {

std::string_view StateText(char state) {
  switch (state) {
    case 'R':
      return "runs";
    case 'S':
      return "waits";
    case 'D':
      return "blocked in the kernel";
    case 'T':
      return "stopped";
    case 't':
      return "held by a debugger";
    case 'Z':
      return "ended, not yet collected";
    default:
      return "state unknown";
  }
}

std::string ThreadText(const ThreadLook& thread) {
  std::string text(StateText(thread.state));
  if (!thread.waits_in.empty()) {
    text += " in " + thread.waits_in;
  }
  if (!thread.waits_for.empty()) {
    text += " for " + thread.waits_for;
  }
  if (thread.holds_gil) {
    text += ", holds Python's lock";
  }
  std::string stack;
  for (auto frame = thread.frames.rbegin(); frame != thread.frames.rend(); ++frame) {
    stack += fmt::format("      {} {}:{} in {}{}\n", frame->users_own ? ">" : " ", frame->file,
                         frame->line, frame->function,
                         frame->source.empty() ? "" : "   " + frame->source);
  }
  return text + "\n" + stack;
}

void WriteThread(JsonWriter& out, const ThreadLook& thread) {
  out.Open();
  out.Number("tid", thread.tid);
  out.Text("name", thread.name);
  out.Text("state", std::string(1, thread.state));
  out.Number("cpu_ms", thread.cpu_ms);
  out.Flag("holds_gil", thread.holds_gil);
  out.Text("waits_in", thread.waits_in);
  out.Text("waits_for", thread.waits_for);
  out.OpenList("frames");
  for (const Frame& frame : thread.frames) {
    out.Open();
    out.Text("file", frame.file);
    out.Number("line", frame.line);
    out.Text("function", frame.function);
    out.Flag("users_own", frame.users_own);
    out.Said("source", frame.source);
    out.Close();
  }
  out.CloseList();
  out.Close();
}

}  // namespace

std::string RenderLooks(const std::vector<ProcessLook>& processes) {
  std::string text;
  for (const ProcessLook& process : processes) {
    text += fmt::format("process {}  {}{}{}  {:.0f} % of a core\n", process.pid,
                        process.command.empty() ? process.name : process.command,
                        process.rank ? fmt::format("  rank {}", *process.rank) : "",
                        process.python.empty() ? "" : "  Python " + process.python,
                        100 * process.cpu_share);
    if (!process.unseen.empty()) {
      text += "    no Python stacks: " + process.unseen + "\n";
    }
    std::map<std::string, std::vector<const ThreadLook*>> places;
    std::vector<const std::string*> order;
    for (const ThreadLook& thread : process.threads) {
      auto [found, is_new] = places.try_emplace(ThreadText(thread));
      found->second.push_back(&thread);
      if (is_new) {
        order.push_back(&found->first);
      }
    }
    for (const std::string* place : order) {
      const auto& threads = places[*place];
      const std::string who = threads.size() == 1
                                  ? fmt::format("thread {} ({})", threads.front()->tid,
                                                threads.front()->name)
                                  : fmt::format("{} threads", threads.size());
      text += fmt::format("    {}: {}", who, *place);
    }
  }
  return text;
}

void WriteLooks(const std::vector<ProcessLook>& processes, JsonWriter& out) {
  out.OpenList("processes");
  for (const ProcessLook& process : processes) {
    out.Open();
    out.Number("pid", process.pid);
    out.Number("parent_pid", process.parent_pid);
    out.Text("name", process.name);
    out.Said("command", process.command);
    out.Text("state", std::string(1, process.state));
    if (process.rank) {
      out.Number("rank", static_cast<std::int64_t>(*process.rank));
    }
    out.Text("python", process.python);
    out.Text("unseen", process.unseen);
    out.Flag("finalizing", process.finalizing);
    out.Flag("same_frames", process.same_frames);
    out.Flag("same_variables", process.same_variables);
    out.Number("cpu_share", process.cpu_share);
    out.OpenList("threads");
    for (const ThreadLook& thread : process.threads) {
      WriteThread(out, thread);
    }
    out.CloseList();
    out.Close();
  }
  out.CloseList();
}

}  // namespace whystop
