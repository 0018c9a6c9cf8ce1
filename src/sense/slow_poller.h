#pragma once

#include <pthread.h>
#include <signal.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "model/event.h"

namespace whystop {

/// Calls a function that may hang (a dead NFS server, a wedged GPU driver) again and again on a
/// thread of its own and hands out its newest answer. The caller never waits for it. If the call
/// still hangs when the poller is destroyed the thread is left behind: nothing can end it, and the
/// state it holds is its own.
template <typename In, typename Out>
class SlowPoller {
 public:
  /// Nullopt: there is nothing to ask here, now or later; the thread ends.
  using Poll = std::function<std::optional<Out>(const In&)>;
  struct Pace {
    std::chrono::milliseconds interval{1000};
    std::chrono::milliseconds timeout{5000};
  };

  SlowPoller(Poll poll, In input, Pace pace) : pace_(pace), state_(std::make_shared<State>()) {
    state_->poll = std::move(poll);
    state_->input = std::move(input);
    state_->interval = pace.interval;
  }
  SlowPoller(const SlowPoller&) = delete;
  SlowPoller& operator=(const SlowPoller&) = delete;

  ~SlowPoller() {
    constexpr std::chrono::milliseconds kGrace{100};  // An answer that is on its way needs less.
    std::unique_lock lock(state_->mutex);
    state_->stop = true;
    state_->changed.notify_all();
    state_->changed.wait_for(lock, kGrace, [this] { return !state_->running; });
  }

  /// What the next calls are given.
  void SetInput(In input) {
    const std::lock_guard lock(state_->mutex);
    state_->input = std::move(input);
  }

  /// The newest answer, unless it is older than the interval and the time-out together. Starts the
  /// thread when it is first called.
  std::optional<Out> Latest(RunTime now) {
    Start();
    const std::lock_guard lock(state_->mutex);
    if (state_->answers != answers_seen_ || !seen_at_) {
      answers_seen_ = state_->answers;
      seen_at_ = now;
    }
    stuck_ = state_->running && now - *seen_at_ > pace_.interval + pace_.timeout;
    return stuck_ ? std::nullopt : state_->output;
  }

  /// Whether the last `Latest` found that a call hangs.
  bool stuck() const { return stuck_; }

  /// Waits for the first answer, at most the time-out. For commands that can wait.
  std::optional<Out> WaitForFirst() {
    Start();
    std::unique_lock lock(state_->mutex);
    state_->changed.wait_for(lock, pace_.timeout,
                             [this] { return state_->answers > 0 || !state_->running; });
    return state_->output;
  }

  /// Whether a call is under way or to come.
  bool asking() {
    const std::lock_guard lock(state_->mutex);
    return state_->running;
  }

 private:
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    Poll poll;
    In input;
    std::optional<Out> output;
    std::uint64_t answers = 0;
    std::chrono::milliseconds interval{};
    bool running = false;
    bool stop = false;
  };

  void Start() {
    if (started_) {
      return;
    }
    started_ = true;
    state_->running = true;
    auto own = std::make_unique<std::shared_ptr<State>>(state_);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);  // Signals belong to the thread that supervises.
    pthread_t thread{};
    if (pthread_create(&thread, &attributes, &Run, own.get()) == 0) {
      own.release();  // The thread owns it now.
    } else {
      state_->running = false;
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    pthread_attr_destroy(&attributes);
  }

  static std::optional<Out> Ask(const Poll& poll, const In& input) {
    try {
      return poll(input);
    } catch (...) {  // A vendor library threw: the sensor is lost, nothing else.
      return std::nullopt;
    }
  }

  static void* Run(void* argument) {
    // Shared: a thread that hangs outlives the poller, see the class comment.
    const std::unique_ptr<std::shared_ptr<State>> owned(
        static_cast<std::shared_ptr<State>*>(argument));
    State& state = **owned;
    std::unique_lock lock(state.mutex);
    while (!state.stop) {
      const In input = state.input;
      lock.unlock();
      std::optional<Out> answer = Ask(state.poll, input);
      lock.lock();
      if (!answer) {
        break;
      }
      state.output = std::move(answer);
      ++state.answers;
      state.changed.notify_all();
      state.changed.wait_for(lock, state.interval, [&state] { return state.stop; });
    }
    lock.unlock();
    state.poll = nullptr;  // Vendor libraries are closed by the thread that used them.
    lock.lock();
    state.running = false;
    state.changed.notify_all();
    return nullptr;
  }

  Pace pace_;
  std::shared_ptr<State> state_;
  bool started_ = false;
  bool stuck_ = false;
  std::uint64_t answers_seen_ = 0;
  std::optional<RunTime> seen_at_;
};

}  // namespace whystop
