#include "import/wandb/wandb_reader.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/parse.h"
#include "import/wandb/record_cutter.h"
#include "import/wire_field.h"
#include "model/observation_kind.h"

namespace whystop {
namespace {

// Field numbers of wandb_internal.Record.
constexpr std::uint32_t kHistory = 2;
constexpr std::uint32_t kOutput = 4;  // Console text in files of 2021.
constexpr std::uint32_t kConfig = 5;
constexpr std::uint32_t kOutputRaw = 13;
constexpr std::uint32_t kRun = 17;
constexpr std::uint32_t kExit = 18;
constexpr std::uint32_t kPreempting = 23;
// HistoryRecord.item and ConfigRecord.update; RunRecord.config; the fields of an item.
constexpr protozero::pbf_tag_type kItems = 1;
constexpr protozero::pbf_tag_type kRunConfigField = 4;
constexpr protozero::pbf_tag_type kItemKey = 1;
constexpr protozero::pbf_tag_type kItemNestedKey = 2;
constexpr protozero::pbf_tag_type kItemValue = 16;
constexpr protozero::pbf_tag_type kOutputTime = 2;
constexpr protozero::pbf_tag_type kOutputLine = 3;
constexpr protozero::pbf_tag_type kExitCode = 1;
constexpr protozero::pbf_tag_type kExitRuntime = 2;

constexpr int kKeyboardInterruptCode = 255;  // The client's exit hook: 1 for any other exception.
constexpr std::size_t kKeyBytesMax = 512;
constexpr std::size_t kConfigBytesMax = 64 << 10;

/// A google.protobuf.Timestamp, to the second.
double SecondsOf(std::string_view timestamp) {
  protozero::pbf_reader field(timestamp.data(), timestamp.size());
  return field.next(1, protozero::pbf_wire_type::varint) ? static_cast<double>(field.get_int64())
                                                         : 0;
}

std::optional<double> JsonNumber(std::string_view json) {
  json = Trim(json);
  if (json.size() >= 2 && json.front() == '"' && json.back() == '"') {
    json = json.substr(1, json.size() - 2);  // "NaN" and "Infinity" are written as texts.
  }
  return json.empty() ? std::nullopt : ParseWhole<double>(json);
}

/// Flattens the object that is one value into the row it belongs to.
class ObjectInto final : public JsonVisitor {
 public:
  ObjectInto(JsonRow& row, const std::string& key) : row_(row), key_(key) {}
  void OnRow(const std::string&, const JsonRow& object) override {
    for (const auto& [name, text] : object.texts()) {
      if (name == "_type") {
        return;  // A picture, a table, a histogram.
      }
    }
    for (const auto& [name, value] : object.numbers()) {
      row_.AddNumber(key_ + "/" + name, value);
    }
  }
  void OnElement(const std::string&, std::int64_t, double) override {}
  void OnFact(const std::string&, double) override {}
  void OnFactText(const std::string&, std::string_view) override {}

 private:
  JsonRow& row_;
  const std::string& key_;
};

}  // namespace

void WandbReader::Read(ByteSource& source) {
  RecordCutter cutter([this](std::string_view record) { TakeRecord(record); });
  for (std::string_view piece = source.Next(); !piece.empty(); piece = source.Next()) {
    cutter.Feed(piece);
  }
  cutter.Finish();
  if (cutter.bad_chunks() > 0) {
    log_.Dropped("import.wandb_bad_chunk", cutter.bad_chunks());
  }
  if (cutter.long_records() > 0) {
    log_.Dropped("import.wandb_long_record", cutter.long_records());
  }
  if (!config_.attributes.empty()) {
    config_.kind = kRunConfig;
    log_.Observe(std::move(config_));
  }
  console_.Finish(last_at_, has_exit_);
  PushEnd();
}

bool WandbReader::HasHistory(ByteSource& source) {
  bool found = false;
  RecordCutter cutter([&found](std::string_view record) {
    try {
      protozero::pbf_reader field(record.data(), record.size());
      while (!found && NextBytes(field, kHistory)) {
        protozero::pbf_reader item = field.get_message();
        while (!found && NextBytes(item, kItems)) {
          const Item read = ReadItem(TakeView(item));
          found = !read.key.starts_with('_') && JsonNumber(read.value_json).has_value();
        }
      }
    } catch (const protozero::exception&) {
      return;  // Counted when it is read.
    }
  });
  for (std::string_view piece = source.Next(); !piece.empty() && !found; piece = source.Next()) {
    cutter.Feed(piece);
  }
  cutter.Finish();
  return found;
}

void WandbReader::PushEnd() {
  Observation exit;
  exit.kind = kTrackerExit;
  exit.attributes.emplace("tracker", "W&B");
  RunEnd end;
  if (has_exit_) {
    exit.attributes.emplace("exit_code", static_cast<double>(exit_code_));
    end.end = ChildEnd::Exited(static_cast<int>(exit_code_ & 0xff));
  }
  if (runtime_seconds_) {
    end.duration = std::chrono::seconds(*runtime_seconds_);
  }
  if (has_exit_ && exit_code_ == kKeyboardInterruptCode) {
    ExceptionSeen interrupt;
    interrupt.type = "KeyboardInterrupt";
    interrupt.message = "recorded by the W&B client as exit code 255";
    interrupt.ended_process = true;
    interrupt.place.file = log_.file();
    log_.Emit(std::move(interrupt), last_at_);
  }
  log_.Observe(std::move(exit), last_at_);
  if (has_exit_) {
    log_.Emit(std::move(end), last_at_);
  }
}

void WandbReader::TakeRecord(std::string_view record) {
  // protozero reports bytes that are no message by an exception; none of ours leave this function.
  try {
    protozero::pbf_reader field(record.data(), record.size());
    while (field.next()) {
      if (field.wire_type() == protozero::pbf_wire_type::length_delimited) {
        TakeField(field.tag(), TakeView(field));
      } else {
        field.skip();
      }
    }
  } catch (const protozero::exception&) {
    log_.Dropped("import.wandb_bad_message");
  }
}

void WandbReader::TakeField(std::uint32_t field, std::string_view body) {
  switch (field) {
    case kHistory:
      return TakeHistory(body);
    case kConfig:
      return TakeConfig(body);
    case kRun:
      return TakeRun(body);
    case kOutput:
    case kOutputRaw:
      return TakeOutput(body);
    case kExit:
      return TakeExit(body);
    case kPreempting: {
      Observation preempting;
      preempting.kind = kTrackerPreempting;
      return log_.Observe(std::move(preempting));
    }
    default:
      return;
  }
}

WandbReader::Item WandbReader::ReadItem(std::string_view item) {
  Item out;
  protozero::pbf_reader field(item.data(), item.size());
  while (field.next()) {
    switch (field.tag_and_type()) {
      case BytesField(kItemKey):
      case BytesField(kItemNestedKey):
        if (!out.key.empty()) {
          out.key.push_back('/');
        }
        out.key.append(
            TakeView(field).substr(0, kKeyBytesMax - std::min(kKeyBytesMax, out.key.size())));
        break;
      case BytesField(kItemValue):
        out.value_json = TakeView(field);
        break;
      default:
        field.skip();
    }
  }
  return out;
}

void WandbReader::TakeHistory(std::string_view history) {
  row_.Clear();
  protozero::pbf_reader field(history.data(), history.size());
  while (NextBytes(field, kItems)) {
    const Item item = ReadItem(TakeView(field));
    if (const auto number = JsonNumber(item.value_json)) {
      row_.AddNumber(item.key, *number);
    } else if (item.value_json.starts_with('{')) {
      ObjectInto into(row_, item.key);
      static_cast<void>(WalkJsonLine(item.value_json, into));
    }
  }
  rows_.Take(row_, RowPosition{});
}

void WandbReader::TakeConfig(std::string_view config) {
  protozero::pbf_reader field(config.data(), config.size());
  while (NextBytes(field, kItems)) {
    TakeConfigItem(ReadItem(TakeView(field)));
  }
}

void WandbReader::TakeConfigItem(const Item& item) {
  config_bytes_ += item.key.size() + item.value_json.size();
  if (item.key.starts_with("_wandb") || config_bytes_ > kConfigBytesMax) {
    return;
  }
  const auto number = JsonNumber(item.value_json);
  if (!number) {
    config_.attributes.insert_or_assign(item.key, std::string(item.value_json));
    return;
  }
  config_.attributes.insert_or_assign(item.key, *number);
  const PositionKey key = PositionKeyOf(item.key);
  if (*number > 0 &&
      (key == PositionKey::kEpochsPlanned || item.key == "epochs" || item.key == "EPOCHS")) {
    log_.SetPlan(std::nullopt, *number);
  } else if (*number > 0 && key == PositionKey::kStepsPlanned) {
    log_.SetPlan(WholeNumber(*number), std::nullopt);
  }
}

void WandbReader::TakeRun(std::string_view run) {
  protozero::pbf_reader field(run.data(), run.size());
  while (NextBytes(field, kRunConfigField)) {
    TakeConfig(TakeView(field));
  }
}

void WandbReader::TakeOutput(std::string_view output) {
  std::string_view line;
  double wall_seconds = 0;
  protozero::pbf_reader field(output.data(), output.size());
  while (field.next()) {
    switch (field.tag_and_type()) {
      case BytesField(kOutputLine):
        line = TakeView(field);
        break;
      case BytesField(kOutputTime):
        wall_seconds = SecondsOf(TakeView(field));
        break;
      default:
        field.skip();
    }
  }
  last_at_ = std::max(last_at_, log_.SinceFirst(wall_seconds));
  console_.Feed(line, last_at_);
}

void WandbReader::TakeExit(std::string_view exit_record) {
  has_exit_ = true;
  exit_code_ = 0;  // Proto3 leaves out a zero.
  protozero::pbf_reader field(exit_record.data(), exit_record.size());
  while (field.next()) {
    switch (field.tag_and_type()) {
      case VarintField(kExitCode):
        exit_code_ = field.get_int32();
        break;
      case VarintField(kExitRuntime):
        runtime_seconds_ = field.get_int32();
        break;
      default:
        field.skip();
    }
  }
}

}  // namespace whystop
