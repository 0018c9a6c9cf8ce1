#include "cause/hang_workers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <string>
#include <string_view>

namespace whystop {
namespace {

bool HoldsAny(std::string_view text, std::initializer_list<std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(), [text](std::string_view part) {
    return text.find(part) != std::string_view::npos;
  });
}

std::string Lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return text;
}

/// The frame in which a process was forked; everything outside of it is its parent's.
std::vector<Frame>::const_iterator ForkOf(const ThreadLook& thread) {
  const auto found = std::find_if(thread.frames.rbegin(), thread.frames.rend(), [](const Frame& frame) {
    return frame.file.find("/multiprocessing/popen_fork.py") != std::string::npos;
  });
  return found == thread.frames.rend() ? thread.frames.begin() : found.base();
}

bool IsForked(const ThreadLook& thread) { return ForkOf(thread) != thread.frames.begin(); }

/// The worker itself is inside this library, by its Python files.
bool IsInside(const ThreadLook& thread, std::initializer_list<std::string_view> folders) {
  return std::any_of(ForkOf(thread), thread.frames.end(),
                     [&folders](const Frame& frame) { return HoldsAny(frame.file, folders); });
}

}  // namespace

bool IsLoaderWorker(const ProcessLook& process) {
  const ThreadLook* main = process.MainThread();
  return main != nullptr && FrameOf(*main, "/torch/utils/data/_utils/worker.py") != nullptr;
}

const Frame* OwnOfWorker(const ProcessLook& process) {
  const ThreadLook* main = process.MainThread();
  if (main == nullptr) {
    return nullptr;
  }
  const auto begin = ForkOf(*main);
  for (auto frame = main->frames.end(); frame != begin;) {
    --frame;
    if (frame->users_own) {
      return &*frame;
    }
  }
  return nullptr;
}

std::optional<HangKind> ClassifyForked(const ProcessLook& process) {
  const ThreadLook* main = process.MainThread();
  const Frame* own = OwnOfWorker(process);
  if (main == nullptr || main->frames.empty() || main->waits_in.find("futex") == std::string::npos ||
      (own == nullptr && !IsForked(*main))) {
    return std::nullopt;
  }
  const std::string source = own == nullptr ? "" : Lower(own->source);
  // What the line itself waits for goes before the library that it also names.
  const bool waits_for_lock = HoldsAny(source, {"lock", "acquire", ".get("});
  if (!waits_for_lock && IsInside(*main, {"/jax/", "/jaxlib/", "/flax/"})) {
    return HangKind{"jax-fork-deadlock", &process,
                    fmt::format("worker {} computes with JAX, whose threads were not copied when it was forked",
                                process.pid)};
  }
  // Written in Rust: nothing but the line that calls it shows on a Python stack.
  if (!waits_for_lock && (IsInside(*main, {"/tokenizers/", "/transformers/token"}) ||
                          HoldsAny(source, {"tokeniz", "encode_batch(", ".encode("}))) {
    return HangKind{"tokenizer-fork-deadlock", &process,
                    fmt::format("worker {} waits inside the tokenizer, which had threads before it was forked",
                                process.pid),
                    false};
  }
  const bool math = HoldsAny(source, {"torch.", "np.", "numpy.", "cv2.", "scipy.", "sklearn."}) ||
                    HoldsAny(main->frames.back().file, {"/numpy/", "/cv2/", "/scipy/", "/sklearn/", "/torch/nn/"});
  if (!waits_for_lock && math) {
    return HangKind{"fork-openmp-deadlock", &process,
                    fmt::format("worker {} waits for threads of a library that were not copied when it was forked",
                                process.pid),
                    false};
  }
  if (own == nullptr) {
    return std::nullopt;  // It waits for work.
  }
  return HangKind{"lock-held", &process,
                  fmt::format("worker {} waits for a lock that nobody will release: who held it was not copied when "
                              "the worker was forked",
                              process.pid)};
}

const ProcessLook* StuckPoolWorker(const HangFacts& hang, const ProcessLook& process) {
  const ThreadLook* main = process.MainThread();
  const bool waits_for_pool = main != nullptr && (FrameOf(*main, "/multiprocessing/pool.py") != nullptr ||
                                                  FrameOf(*main, "/concurrent/futures/") != nullptr ||
                                                  FrameOf(*main, "/multiprocessing/popen_fork.py") != nullptr ||
                                                  FrameOf(*main, "/multiprocessing/queues.py") != nullptr);
  for (const ProcessLook& other : hang.processes) {
    if (waits_for_pool && other.parent_pid == process.pid && ClassifyForked(other)) {
      return &other;
    }
  }
  return nullptr;
}

}  // namespace whystop
