#include "look/main_thread.h"

#include "look/source_line.h"
#include "look/thread_facts.h"

namespace whystop {

std::optional<ThreadLook> MainThread::Look() const {
  std::vector<Frame> frames = python_.ReadMainStack();
  if (frames.empty()) {
    return std::nullopt;
  }
  ThreadLook look = ReadThread(pid_, pid_);
  look.frames = std::move(frames);
  for (auto frame = look.frames.rbegin(); frame != look.frames.rend(); ++frame) {
    if (frame->users_own) {
      AddSource(pid_, *frame);
      break;
    }
  }
  return look;
}

}  // namespace whystop
