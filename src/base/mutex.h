#pragma once

#include <mutex>

#if defined(__clang__)
#define WS_THREAD_ATTRIBUTE(x) __attribute__((x))
#else
#define WS_THREAD_ATTRIBUTE(x)
#endif

#define WS_GUARDED_BY(mutex) WS_THREAD_ATTRIBUTE(guarded_by(mutex))
#define WS_REQUIRES(mutex) WS_THREAD_ATTRIBUTE(requires_capability(mutex))

namespace whystop {

/// std::mutex with the annotations that let clang check who may touch what.
class WS_THREAD_ATTRIBUTE(capability("mutex")) Mutex {
 public:
  void lock() WS_THREAD_ATTRIBUTE(acquire_capability()) { mutex_.lock(); }
  void unlock() WS_THREAD_ATTRIBUTE(release_capability()) { mutex_.unlock(); }

 private:
  std::mutex mutex_;
};

class WS_THREAD_ATTRIBUTE(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) WS_THREAD_ATTRIBUTE(acquire_capability(mutex)) : mutex_(mutex) {
    mutex_.lock();
  }
  ~MutexLock() WS_THREAD_ATTRIBUTE(release_capability()) { mutex_.unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

}  // namespace whystop
