#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "import/byte_source.h"
#include "import/json_walk.h"
#include "import/metric_rows.h"
#include "import/series_log.h"

namespace whystop {

/// Takes the text that a run wrote to its terminal, in order.
class ConsoleText {
 public:
  virtual ~ConsoleText() = default;
  virtual void Feed(std::string_view bytes, RunTime at) = 0;
  /// `end_known`: there is an exit record, so that how the text ends says nothing more.
  virtual void Finish(RunTime at, bool end_known) = 0;
};

/// Reads a W&B run file (`run-ID.wandb`): history as series, configuration, console text (given to
/// `console`), and the exit record. No exit record means that the run was killed or still runs; the
/// observation then has no exit code.
///
/// Counters: import.wandb_bad_chunk, import.wandb_long_record, import.wandb_bad_message.
class WandbReader {
 public:
  WandbReader(SeriesLog& log, ConsoleText& console) : log_(log), console_(console), rows_(log) {}
  void Read(ByteSource& source);

  /// Whether the file holds a single point of history.
  static bool HasHistory(ByteSource& source);

 private:
  struct Item {
    std::string key;
    std::string_view value_json;
  };
  void TakeRecord(std::string_view record);
  void TakeField(std::uint32_t field, std::string_view body);
  void TakeHistory(std::string_view history);
  void TakeConfig(std::string_view config);
  void TakeConfigItem(const Item& item);
  void TakeRun(std::string_view run);
  void TakeOutput(std::string_view output);
  void TakeExit(std::string_view exit_record);
  static Item ReadItem(std::string_view item);
  void PushEnd();

  SeriesLog& log_;
  ConsoleText& console_;
  MetricRows rows_;
  JsonRow row_;
  Observation config_;
  std::size_t config_bytes_ = 0;
  bool has_exit_ = false;
  std::int64_t exit_code_ = 0;
  std::optional<std::int64_t> runtime_seconds_;
  RunTime last_at_{};
};

}  // namespace whystop
