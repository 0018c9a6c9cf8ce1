#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "model/event.h"
#include "view/run_view.h"

namespace whystop {

/// Follows the processes of a job. Of very many it keeps the job itself, those that ended badly and
/// the first ones.
class LifeLines {
 public:
  static constexpr std::size_t kShownMax = 120;

  void Take(const RunStart& start);
  void Take(const ProcessStart& started, RunTime at);
  void Take(const ProcessEnd& end, RunTime at);

  std::vector<LifeLine> Chosen() const;
  std::int64_t left_out() const;

 private:
  LifeLine* Open(std::int64_t pid);

  std::vector<LifeLine> lines_;
  std::map<std::int64_t, std::size_t> alive_;  // By pid: a number may be used again.
  std::int64_t not_followed_ = 0;
};

}  // namespace whystop
