#include "supervise/event_loop.h"

#include <poll.h>
#include <sys/timerfd.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace whystop {

void EventLoop::Watch(int fd, Handler on_readable) { handlers_[fd] = std::move(on_readable); }

void EventLoop::Forget(int fd) { handlers_.erase(fd); }

void EventLoop::Run() {
  std::vector<pollfd> polled;
  while (!stopped_) {
    polled.clear();
    for (const auto& [fd, handler] : handlers_) {
      polled.push_back({.fd = fd, .events = POLLIN, .revents = 0});
    }
    // A poll that fails for want of memory is tried again: there is nobody else to do this work.
    const int ready = ::poll(polled.data(), polled.size(), -1);
    for (const pollfd& entry : polled) {
      const auto found = handlers_.find(entry.fd);
      if (!stopped_ && ready > 0 && entry.revents != 0 && found != handlers_.end()) {
        const Handler handler = found->second;  // A copy: the handler may forget itself.
        handler();
      }
    }
  }
}

Timer::Timer() : fd_(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)) {}

void Timer::SetOnce(std::chrono::nanoseconds delay) {
  const std::int64_t count = std::max<std::int64_t>(delay.count(), 1);  // Zero would disarm it.
  itimerspec setting{};
  setting.it_value.tv_sec = count / 1'000'000'000;
  setting.it_value.tv_nsec = count % 1'000'000'000;
  ::timerfd_settime(fd_.get(), 0, &setting, nullptr);
}

void Timer::Acknowledge() const {
  std::uint64_t count = 0;
  static_cast<void>(ReadSome(fd_.get(), {reinterpret_cast<char*>(&count), sizeof(count)}));
}

}  // namespace whystop
