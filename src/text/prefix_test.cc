#include "text/prefix.h"

#include <gtest/gtest.h>

namespace whystop {
namespace {

struct Case {
  std::string_view line;
  std::string_view body;
  int rank = -1;
  LogLevel level = LogLevel::kNone;
};

TEST(PeelPrefix, KnowsTheUsualLoggers) {
  const Case cases[] = {
      {"[rank3]:   File \"x.py\", line 3", "  File \"x.py\", line 3", 3},
      {" 0: loss 3", "loss 3", 0},
      {"[1,3]<stderr>:  File \"x.py\", line 3", "  File \"x.py\", line 3", 3},
      {"trainer_1  |   File \"x.py\", line 3", "  File \"x.py\", line 3"},
      {"trainer-1  | epoch 3 | loss 0.5", "epoch 3 | loss 0.5"},
      {"epoch 3 | loss 0.5", "epoch 3 | loss 0.5"},
      {"[pod/trainer-0/pytorch] KeyError: 'x'", "KeyError: 'x'"},
      {"14:   File \"a\"", "  File \"a\"", 14},
      {" 9: [rank9]:I0124 14:23:57.754000 273679 torch/a.py:2437]   cache_misses: 0",
       "  cache_misses: 0", 9, LogLevel::kInfo},
      {"(TaskRunner pid=4242) step:1 - actor/loss:0.2", "step:1 - actor/loss:0.2"},
      {"2024-10-18 16:53:10,903 - mmdet - INFO - Epoch [1][50/9752]", "Epoch [1][50/9752]", -1,
       LogLevel::kInfo},
      {"[10/18 16:53:10] d2.utils.events INFO:  eta: 0:01:00  iter: 19", " eta: 0:01:00  iter: 19",
       -1, LogLevel::kInfo},
      {"2023-06-28 18:40:31 | INFO | train_inner | epoch 001: 1", "epoch 001: 1", -1,
       LogLevel::kInfo},
      {"07/18/2023 21:42:31 - WARNING - pet.core - Saving", "Saving", -1, LogLevel::kWarning},
      {"[2025-06-24 21:06:22,662] [INFO] [launch.py:347:main] Process 1", "Process 1", -1,
       LogLevel::kInfo},
      {"INFO - 06/22/21 00:16:24 - 0:00:13 - Finish epoch 0", "Finish epoch 0", -1,
       LogLevel::kInfo},
      {"2024/06/19 00:34:55: model [DEBUG] n_epochs: 6", "n_epochs: 6", -1, LogLevel::kDebug},
      {"I0124 14:50:20.055000 76778 torch/_dynamo/utils.py:399] metrics", "metrics", -1,
       LogLevel::kInfo},
      {"2025-01-24,15:37:12 | INFO | Train Epoch: 0", "Train Epoch: 0", -1, LogLevel::kInfo},
      {"[2023-11-29 11:04:57,788] torch._dynamo.convert_frame: [WARNING] Traceback", "Traceback",
       -1, LogLevel::kWarning},
      {"ERROR:torch.distributed.elastic:failed", "failed", -1, LogLevel::kError},
      {"12:   x", "  x", 12},
      // Not prefixes.
      {"{'loss': 0.3}", "{'loss': 0.3}"},
      {"[Epoch 72] LR: 7e-04", "[Epoch 72] LR: 7e-04"},
      {"ERROR occurred while loading", "ERROR occurred while loading"},
      {" 28%|##   | 6118/21600 [15:32:34<40:10:22,  9.34s/it]",
       " 28%|##   | 6118/21600 [15:32:34<40:10:22,  9.34s/it]"},
      {"100/100 [====] - 1s", "100/100 [====] - 1s"},
      {"", ""},
  };
  for (const Case& want : cases) {
    const PeeledLine got = PeelPrefix(want.line);
    EXPECT_EQ(got.body, want.body) << want.line;
    EXPECT_EQ(got.rank.value_or(-1), want.rank) << want.line;
    EXPECT_EQ(got.level, want.level) << want.line;
  }
}

}  // namespace
}  // namespace whystop
