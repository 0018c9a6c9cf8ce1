#include <string>

#include "export/exporters.h"
#include "export/rows.h"
#include "export/text_file.h"
#include "report/json_writer.h"

namespace whystop {
namespace {

class JsonLinesExporter final : public Exporter {
 public:
  JsonLinesExporter(TextFile file, bool resources)
      : file_(std::move(file)), rows_(resources, [this](const ExportRow& row) { Put(row); }) {}
  void Push(const Event& event) override { rows_.Push(event); }
  Status Finish() override { return file_.Finish(); }

 private:
  void Put(const ExportRow& row) {
    JsonWriter out;
    out.Open();
    out.Number("seconds", std::chrono::duration<double>(row.at).count());
    out.Number("step", row.step);
    out.Number("epoch", row.epoch);
    out.Text("series", row.series);
    out.Text("role", row.role);
    if (row.rank) {
      out.Number("rank", std::int64_t{*row.rank});
    }
    out.Text("source", row.source);
    out.Number("value", row.value);
    out.Close();
    file_.Append(out.text());
    file_.Append("\n");
  }
  TextFile file_;
  RowMaker rows_;
};

}  // namespace

Result<std::unique_ptr<Exporter>> MakeJsonLines(const ExportSettings& settings) {
  auto file = TextFile::Create(settings.path);
  if (!file) {
    return file.error();
  }
  return std::unique_ptr<Exporter>(
      std::make_unique<JsonLinesExporter>(std::move(*file), settings.resources));
}

}  // namespace whystop
