#include "model/process_look.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/parse.h"

namespace whystop {
namespace {

constexpr std::size_t kStacksBytesMax = 48 << 10;
constexpr std::size_t kFramesMax = 60;

std::string Clean(std::string_view text) {
  std::string out(text);
  std::replace_if(
      out.begin(), out.end(), [](char letter) { return letter == '\t' || letter == '\n'; }, ' ');
  return out;
}

std::string Row(std::initializer_list<std::string> fields) {
  std::string row;
  for (const std::string& field : fields) {
    row += (row.empty() ? "" : "\t") + Clean(field);
  }
  return row + "\n";
}

std::string FrameRow(const Frame& frame) {
  return Row({"F", frame.file, std::to_string(frame.line), frame.function,
              frame.users_own ? "1" : "0", frame.source});
}

/// A thread's row and below it those of its frames; of a very deep stack the two ends.
std::string ThreadRows(const ThreadLook& thread) {
  std::string rows =
      Row({"T", std::to_string(thread.tid), thread.name, std::string(1, thread.state),
           std::to_string(thread.cpu_ms), thread.holds_gil ? "1" : "0", thread.waits_in,
           thread.waits_for});
  for (std::size_t i = 0; i < thread.frames.size(); ++i) {
    if (i < kFramesMax / 2 || i + kFramesMax / 2 >= thread.frames.size()) {
      rows += FrameRow(thread.frames[i]);
    }
  }
  return rows;
}

std::vector<std::string> Fields(std::string_view row) {
  std::vector<std::string> fields;
  while (true) {
    const std::size_t tab = row.find('\t');
    fields.emplace_back(row.substr(0, tab));
    if (tab == std::string_view::npos) {
      return fields;
    }
    row.remove_prefix(tab + 1);
  }
}

void ReadRow(const std::vector<std::string>& fields, ProcessLook& look) {
  if (fields.size() == 8 && fields[0] == "T") {
    ThreadLook thread;
    thread.tid = ParseWhole<std::int64_t>(fields[1]).value_or(0);
    thread.name = fields[2];
    thread.state = fields[3].empty() ? '?' : fields[3][0];
    thread.cpu_ms = ParseWhole<std::int64_t>(fields[4]).value_or(0);
    thread.holds_gil = fields[5] == "1";
    thread.waits_in = fields[6];
    thread.waits_for = fields[7];
    look.threads.push_back(std::move(thread));
  } else if (fields.size() == 6 && fields[0] == "F" && !look.threads.empty()) {
    look.threads.back().frames.push_back({.file = fields[1],
                                          .line = ParseWhole<std::int64_t>(fields[2]).value_or(0),
                                          .function = fields[3],
                                          .source = fields[5],
                                          .users_own = fields[4] == "1"});
  }
}

}  // namespace

const Frame* InnermostOwn(const std::vector<Frame>& frames) {
  const auto found = std::find_if(frames.rbegin(), frames.rend(),
                                  [](const Frame& frame) { return frame.users_own; });
  return found == frames.rend() ? nullptr : &*found;
}

const Frame* FrameOf(const ThreadLook& thread, std::string_view part) {
  const auto found =
      std::find_if(thread.frames.rbegin(), thread.frames.rend(), [part](const Frame& frame) {
        return frame.file.find(part) != std::string::npos;
      });
  return found == thread.frames.rend() ? nullptr : &*found;
}

std::optional<std::string> ExchangeOf(const ThreadLook& thread) {
  if (const Frame* call = FrameOf(thread, "/torch/distributed/distributed_c10d.py")) {
    return call->function;
  }
  // Gradients are exchanged by a thread of their own while this one waits.
  if (FrameOf(thread, "/torch/nn/parallel/distributed.py") != nullptr) {
    return "DistributedDataParallel";
  }
  if (!thread.frames.empty() && thread.frames.back().function == "_engine_run_backward") {
    return "backward";
  }
  return std::nullopt;
}

std::optional<std::string> CompilerIn(const ProcessLook& look) {
  constexpr std::string_view kPrograms[] = {"cc1", "cc1plus", "cicc", "clang", "clang++", "g++",
                                            "gcc", "nvcc", "ptxas", "ninja", "nvlink"};
  const auto* const program = std::find(std::begin(kPrograms), std::end(kPrograms), look.name);
  if (program != std::end(kPrograms)) {
    return std::string(*program);
  }
  // Files that are on the stack while code is made, and not while it runs.
  constexpr std::pair<std::string_view, const char*> kFiles[] = {
      {"/torch/_dynamo/convert_frame.py", "torch.compile"},
      {"/torch/_inductor/graph.py", "torch.compile"},
      {"/torch/_inductor/scheduler.py", "torch.compile"},
      {"/torch/_inductor/codegen/", "torch.compile"},
      {"/torch/_inductor/async_compile.py", "torch.compile"},
      {"/torch/_inductor/compile_worker/", "torch.compile"},
      {"/torch/utils/cpp_extension.py", "torch.utils.cpp_extension"},
      {"/triton/compiler/", "Triton"},
      {"/jax/_src/compiler.py", "XLA"},
      {"/jax/_src/interpreters/mlir.py", "JAX"},
      {"/polymorphic_function/tracing_compilation.py", "tf.function"},
      {"/numba/core/compiler.py", "Numba"}};
  const ThreadLook* main = look.MainThread();
  for (const auto& [file, name] : kFiles) {
    if (main != nullptr && FrameOf(*main, file) != nullptr) {
      return name;
    }
  }
  return std::nullopt;
}

bool WaitsForItsUser(const ProcessLook& look) {
  const ThreadLook* main = look.MainThread();
  if (main == nullptr || main->frames.empty()) {
    return false;
  }
  constexpr std::string_view kServers[] = {"/ipykernel", "/jupyter", "/notebook/", "/uvicorn/", "/tensorboard/",
                                           "/gunicorn/", "/socketserver.py", "/werkzeug/", "/streamlit/", "/gradio/"};
  const auto serves = std::find_if(main->frames.begin(), main->frames.end(), [&](const Frame& frame) {
    return std::any_of(std::begin(kServers), std::end(kServers), [&frame](std::string_view name) {
      return frame.file.find(name) != std::string::npos;
    });
  });
  const std::string& innermost = main->frames.back().file;
  const bool in_select = innermost.find("selectors.py") != std::string::npos ||
                         innermost.find("/zmq/") != std::string::npos ||
                         innermost.find("asyncio") != std::string::npos;
  // The program that started the server stands outside of it; a cell or a request that is on its way, inside.
  const bool busy = std::any_of(serves, main->frames.end(), [](const Frame& frame) { return frame.users_own; });
  return serves != main->frames.end() && in_select && !busy;
}

Observation ToObservation(const ProcessLook& look, int episode) {
  Observation out;
  out.kind = "look";
  out.rank = look.rank;
  auto& attributes = out.attributes;
  attributes["episode"] = static_cast<double>(episode);
  attributes["pid"] = static_cast<double>(look.pid);
  attributes["parent"] = static_cast<double>(look.parent_pid);
  if (look.ranks) {
    attributes["ranks"] = static_cast<double>(*look.ranks);
  }
  attributes["name"] = look.name;
  attributes["command"] = look.command;
  attributes["state"] = std::string(1, look.state);
  attributes["python"] = look.python;
  attributes["unseen"] = look.unseen;
  attributes["finalizing"] = look.finalizing ? 1.0 : 0.0;
  attributes["same_frames"] = look.same_frames ? 1.0 : 0.0;
  attributes["same_variables"] = look.same_variables ? 1.0 : 0.0;
  attributes["cpu_share"] = look.cpu_share;
  attributes["threads"] = static_cast<double>(look.threads.size());
  std::string stacks;
  for (const ThreadLook& thread : look.threads) {
    const std::string rows = ThreadRows(thread);
    if (stacks.size() + rows.size() <= kStacksBytesMax) {
      stacks += rows;
    }
  }
  attributes["stacks"] = std::move(stacks);
  return out;
}

std::optional<ProcessLook> ToProcessLook(const Observation& seen) {
  const std::string* stacks = seen.Text("stacks");
  if (seen.kind != "look" || stacks == nullptr) {
    return std::nullopt;
  }
  const auto text = [&seen](const char* name) {
    const std::string* found = seen.Text(name);
    return found == nullptr ? std::string() : *found;
  };
  const auto yes = [&seen](const char* name) { return seen.Number(name).value_or(0) != 0; };
  ProcessLook look;
  look.pid = static_cast<std::int64_t>(seen.Number("pid").value_or(0));
  look.parent_pid = static_cast<std::int64_t>(seen.Number("parent").value_or(0));
  look.name = text("name");
  look.command = text("command");
  look.state = text("state").empty() ? '?' : text("state")[0];
  look.rank = seen.rank;
  if (const auto ranks = seen.Number("ranks")) {
    look.ranks = static_cast<int>(*ranks);
  }
  look.python = text("python");
  look.unseen = text("unseen");
  look.finalizing = yes("finalizing");
  look.same_frames = yes("same_frames");
  look.same_variables = yes("same_variables");
  look.cpu_share = seen.Number("cpu_share").value_or(0);
  std::string_view rest = *stacks;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    ReadRow(Fields(rest.substr(0, end)), look);
    rest.remove_prefix(std::min(rest.size(), end + 1));
  }
  return look;
}

}  // namespace whystop
