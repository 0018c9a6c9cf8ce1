#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/tfrecord.h"
#include "import/byte_source.h"
#include "import/series_log.h"

namespace whystop {

/// Reads TensorBoard event files: scalars of the old kind (simple_value) and the new (rank-0
/// tensor), from any writer. Images, graphs and histograms are passed over. Every checksum is
/// verified. Several files of one run may be read one after the other through the same log, oldest
/// first.
///
/// A file that ends inside a record is normal (the writer died, or lives); what is lost elsewhere
/// is counted: import.tensorboard_bad_record, import.tensorboard_skipped_bytes,
/// import.tensorboard_long_record.
class EventReader {
 public:
  /// `prefix` goes before every tag: the split that only the folder's name tells ("validation/").
  EventReader(SeriesLog& log, std::string prefix) : log_(log), prefix_(std::move(prefix)) {}

  void Read(ByteSource& source);

 private:
  struct Tag {
    std::string name;
    SeriesLog::SeriesIndex series = 0;
  };
  void ReadEvent(std::string_view event);
  void ReadSummary(std::string_view summary, RowPosition position);
  void ReadValue(std::string_view value, const RowPosition& position);
  void TakeNumber(std::string_view tag, double number, const RowPosition& position);
  void TakeText(std::string_view tag, std::string text);
  const Tag* FindTag(std::string_view name);

  SeriesLog& log_;
  std::string prefix_;
  // Writers repeat their tags in the same order: the tag after the last one is nearly always the
  // next.
  std::vector<Tag> tags_;
  std::size_t next_tag_ = 0;
  std::map<std::string, std::size_t, std::less<>> tag_index_;
  std::optional<SeriesLog::SeriesIndex> clock_series_;
  Observation config_;
  std::size_t config_bytes_ = 0;
};

/// Whether `head`, the first bytes of a file, begin a sound event file.
bool LooksLikeEventFile(std::string_view head);

}  // namespace whystop
