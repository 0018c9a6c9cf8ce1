#include "import/tensorboard/event_reader.h"

#include <utility>

#include "base/crc32c.h"
#include "base/little_endian.h"
#include "import/tensorboard/tensor_value.h"
#include "import/wire_field.h"
#include "model/observation_kind.h"

namespace whystop {
namespace {

// A scalar record has some 60 bytes; graphs and images run to megabytes and hold nothing for us.
constexpr std::size_t kRecordBytesMax = 16 << 20;
constexpr std::size_t kConfigBytesMax = 64 << 10;

// Field numbers of tensorflow.Event, Summary, Summary.Value.
constexpr protozero::pbf_tag_type kWallTime = 1;
constexpr protozero::pbf_tag_type kStep = 2;
constexpr protozero::pbf_tag_type kSummary = 5;
constexpr protozero::pbf_tag_type kSummaryValue = 1;
constexpr protozero::pbf_tag_type kValueTag = 1;
constexpr protozero::pbf_tag_type kValueSimple = 2;
constexpr protozero::pbf_tag_type kValueTensor = 8;

}  // namespace

void EventReader::Read(ByteSource& source) {
  TfRecordReader records(kRecordBytesMax);
  std::uint64_t skipped_before_sound = 0;
  for (std::string_view piece = source.Next(); !piece.empty(); piece = source.Next()) {
    records.Feed(piece);
    for (TfRecord record = records.Next(); record.state != TfRecord::State::kTruncated;
         record = records.Next()) {
      if (record.state == TfRecord::State::kWhole) {
        skipped_before_sound = records.skipped_bytes();
        ReadEvent(record.body);
      } else if (record.state == TfRecord::State::kBadBody) {
        log_.Dropped("import.tensorboard_bad_record");
      } else if (record.state == TfRecord::State::kTooLong) {
        log_.Dropped("import.tensorboard_long_record");
      }
    }
  }
  if (skipped_before_sound >
      0) {  // Damage with sound records behind it; damage at the end is a torn tail.
    log_.Dropped("import.tensorboard_skipped_bytes",
                 static_cast<std::int64_t>(skipped_before_sound));
  }
  TextEnd end;
  end.place.file = log_.file();
  log_.Emit(std::move(end));
  if (!config_.attributes.empty()) {
    config_.kind = kRunConfig;
    log_.Observe(std::exchange(config_, {}));
  }
}

void EventReader::ReadEvent(std::string_view event) {
  // protozero reports bytes that are no message by an exception; none of ours leave this function.
  try {
    RowPosition position;
    std::string_view summary;
    double wall_seconds = 0;
    position.step = 0;  // Proto3 leaves out a zero.
    protozero::pbf_reader field(event.data(), event.size());
    while (field.next()) {
      switch (field.tag_and_type()) {
        case DoubleField(kWallTime):
          wall_seconds = field.get_double();
          break;
        case VarintField(kStep):
          position.step = field.get_int64();
          break;
        case BytesField(kSummary):
          summary = TakeView(field);
          break;
        default:
          field.skip();
      }
    }
    position.at = log_.SinceFirst(wall_seconds);
    if (!summary.empty()) {
      ReadSummary(summary, position);
    }
  } catch (const protozero::exception&) {
    log_.Dropped("import.tensorboard_bad_record");
  }
}

void EventReader::ReadSummary(std::string_view summary, RowPosition position) {
  protozero::pbf_reader field(summary.data(), summary.size());
  while (NextBytes(field, kSummaryValue)) {
    ReadValue(TakeView(field), position);
  }
}

void EventReader::ReadValue(std::string_view value, const RowPosition& position) {
  std::string_view tag;
  std::optional<double> number;
  std::string_view tensor;
  protozero::pbf_reader field(value.data(), value.size());
  while (field.next()) {
    switch (field.tag_and_type()) {
      case BytesField(kValueTag):
        tag = TakeView(field);
        break;
      case FloatField(kValueSimple):
        number = static_cast<double>(field.get_float());
        break;
      case BytesField(kValueTensor):
        tensor = TakeView(field);
        break;
      default:
        field.skip();
    }
  }
  if (!number && !tensor.empty()) {
    TensorValue read = ReadTensor(tensor);
    number = read.number;
    if (read.text) {
      TakeText(tag, std::move(*read.text));
    }
  }
  if (number) {
    TakeNumber(tag, *number, position);
  }
}

const EventReader::Tag* EventReader::FindTag(std::string_view name) {
  name = name.substr(0, SeriesLog::kNameBytesMax);
  if (next_tag_ < tags_.size() && tags_[next_tag_].name == name) {
    return &tags_[next_tag_];
  }
  const auto found = tag_index_.find(name);
  if (found != tag_index_.end()) {
    next_tag_ = found->second;
    return &tags_[next_tag_];
  }
  const auto series = log_.Find(prefix_ + std::string(name));
  if (!series) {
    return nullptr;
  }
  tags_.push_back({.name = std::string(name), .series = *series});
  next_tag_ = tags_.size() - 1;
  tag_index_.emplace(name, next_tag_);
  return &tags_[next_tag_];
}

void EventReader::TakeNumber(std::string_view tag, double number, const RowPosition& position) {
  const Tag* found = FindTag(tag);
  if (found == nullptr) {
    return;
  }
  const SeriesLog::SeriesIndex series = found->series;
  next_tag_ = next_tag_ + 1 < tags_.size() ? next_tag_ + 1 : 0;
  // One training loss tells a restart: other series may be logged by epoch, by sample count or out
  // of order.
  if (!clock_series_ && log_.role(series) == SeriesRole::kTrainLoss) {
    clock_series_ = series;
  }
  if (clock_series_ == series) {
    log_.BeginRow(position);
  }
  log_.Push(series, number, position);
}

void EventReader::TakeText(std::string_view tag, std::string text) {
  config_bytes_ += tag.size() + text.size();
  if (config_bytes_ > kConfigBytesMax) {
    return;  // A run that logs its samples as text; the settings come first.
  }
  config_.attributes.emplace(std::string(tag), std::move(text));
}

bool LooksLikeEventFile(std::string_view head) {
  return head.size() >= kTfRecordHeaderBytes &&
         LoadLittle<std::uint64_t>(head) < (std::uint64_t{1} << 40) &&
         MaskedCrc32c(head.substr(0, 8)) == LoadLittle<std::uint32_t>(head.substr(8));
}

}  // namespace whystop
