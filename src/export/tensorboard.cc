#include <fmt/format.h>

#include <bit>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <system_error>

#include "base/tfrecord.h"
#include "export/exporters.h"
#include "export/rows.h"
#include "export/text_file.h"

namespace whystop {
namespace {

// The fields of tensorflow.Event and Summary that are written here.
enum Field : std::uint32_t {
  kEventWallTime = 1,
  kEventStep = 2,
  kEventFileVersion = 3,
  kEventSummary = 5,
  kSummaryValue = 1,
  kValueTag = 1,
  kValueSimple = 2,
};
enum WireType : std::uint32_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

void PutVarint(std::string& out, std::uint64_t value) {
  while (value >= 0x80) {
    out += static_cast<char>((value & 0x7f) | 0x80);
    value >>= 7;
  }
  out += static_cast<char>(value);
}

void PutKey(std::string& out, Field field, WireType type) { PutVarint(out, field << 3 | type); }

template <typename T>
void PutFixed(std::string& out, T bits) {
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    out += static_cast<char>(bits >> (8 * i) & 0xff);
  }
}

void PutBytes(std::string& out, Field field, std::string_view bytes) {
  PutKey(out, field, kBytes);
  PutVarint(out, bytes.size());
  out += bytes;
}

/// Scalars as TensorBoard's oldest and most widely read kind: simple_value.
class TensorBoardExporter final : public Exporter {
 public:
  TensorBoardExporter(TextFile file, bool resources)
      : file_(std::move(file)), rows_(resources, [this](const ExportRow& row) { Put(row); }) {}

  void Push(const Event& event) override {
    if (const auto* start = event.As<RunStart>()) {
      wall_s_ = std::chrono::duration<double>(start->wall).count();
    }
    rows_.Push(event);
  }
  Status Finish() override {
    if (!begun_) {
      Begin();
    }
    return file_.Finish();
  }

 private:
  void Write(double seconds, std::string_view rest) {
    std::string event;
    PutKey(event, kEventWallTime, kFixed64);
    PutFixed(event, std::bit_cast<std::uint64_t>(wall_s_ + seconds));
    event += rest;
    std::string frame;
    AppendTfRecord(frame, event);
    file_.Append(frame);
  }
  void Begin() {
    begun_ = true;
    std::string version;
    PutBytes(version, kEventFileVersion, "brain.Event:2");
    Write(0, version);
  }
  void Put(const ExportRow& row) {
    if (!begun_) {
      Begin();
    }
    // The file that a point came from tells two series of one name apart.
    const std::string tag = row.rank ? fmt::format("{}/rank{}", row.series, *row.rank) : row.series;
    auto& source = sources_.try_emplace(tag, row.source).first->second;
    const std::string name = source == row.source ? tag : fmt::format("{} ({})", tag, row.source);
    const std::int64_t step = StepOf(row, points_[name]);
    ++points_[name];
    std::string value;
    PutBytes(value, kValueTag, name);
    PutKey(value, kValueSimple, kFixed32);
    PutFixed(value, std::bit_cast<std::uint32_t>(static_cast<float>(row.value)));
    std::string summary;
    PutBytes(summary, kSummaryValue, value);
    std::string rest;
    PutKey(rest, kEventStep, kVarint);
    PutVarint(rest, static_cast<std::uint64_t>(step));
    PutBytes(rest, kEventSummary, summary);
    Write(std::chrono::duration<double>(row.at).count(), rest);
  }

  /// A figure without a step of its own ("val_loss 0.3" after an epoch) belongs to the newest step
  /// of the run; before there is one, and for readings of the machine, it goes by its number.
  std::int64_t StepOf(const ExportRow& row, std::int64_t number) {
    const bool of_training = row.role != "machine";
    if (row.step && of_training) {
      newest_step_ = row.step;
    }
    const auto step = row.step_before ? row.step_before : of_training ? newest_step_ : std::nullopt;
    return step.value_or(number);
  }

  TextFile file_;
  RowMaker rows_;
  double wall_s_ = 0;
  bool begun_ = false;
  std::optional<std::int64_t> newest_step_;
  std::map<std::string, std::string> sources_;
  std::map<std::string, std::int64_t> points_;
};

}  // namespace

Result<std::unique_ptr<Exporter>> MakeTensorBoard(const ExportSettings& settings) {
  std::error_code fault;
  std::filesystem::create_directories(settings.path, fault);
  if (fault) {
    return Error{Error::Code::kIo, "cannot make folder '" + settings.path + "': " + fault.message(),
                 ""};
  }
  auto file = TextFile::Create(settings.path + "/events.out.tfevents.0000000000.whystop");
  if (!file) {
    return file.error();
  }
  return std::unique_ptr<Exporter>(
      std::make_unique<TensorBoardExporter>(std::move(*file), settings.resources));
}

}  // namespace whystop
