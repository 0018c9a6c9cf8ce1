#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/fd.h"

namespace whystop {

/// How many descriptors the sensors may hold open together, so that a job of a thousand processes
/// does not use up our own limit. Lives as long as every KeptFile that draws on it.
class DescriptorBudget {
 public:
  explicit DescriptorBudget(int descriptors) : left_(descriptors) {}
  bool Take() { return left_ > 0 && left_-- > 0; }
  void Give() { ++left_; }
  int left() const { return left_; }

 private:
  int left_;
};

/// A small file of /proc, /sys or a control group that is read again and again. Keeps its
/// descriptor while the budget lasts (reading costs less than half, and a kept /proc/PID file never
/// speaks of another process with the same pid); else it opens the file each time.
class KeptFile {
 public:
  KeptFile(std::string path, DescriptorBudget& budget) : path_(std::move(path)), budget_(&budget) {}
  KeptFile(KeptFile&& other) noexcept;
  KeptFile& operator=(KeptFile&& other) noexcept;
  ~KeptFile() { Forget(); }

  /// What the file says now, at most `buffer` full. Nullopt: it cannot be read, errno says why.
  std::optional<std::string_view> Read(std::span<char> buffer);
  const std::string& path() const { return path_; }

 private:
  void Forget();

  std::string path_;
  DescriptorBudget* budget_;
  Fd fd_;  // Only ever open with one descriptor taken from the budget.
};

/// A folder whose entry is looked at again and again, kept like a KeptFile.
class KeptFolder {
 public:
  KeptFolder(std::string path, DescriptorBudget& budget);
  KeptFolder(KeptFolder&& other) noexcept = default;
  KeptFolder& operator=(KeptFolder&& other) = delete;
  ~KeptFolder();

  /// st_size of the folder. Nullopt: it is gone or may not be looked at.
  std::optional<std::int64_t> SizeOfEntry() const;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  DescriptorBudget* budget_;
  Fd fd_;
};

}  // namespace whystop
