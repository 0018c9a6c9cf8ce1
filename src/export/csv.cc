#include <fmt/format.h>

#include <cmath>
#include <string>

#include "export/exporters.h"
#include "export/rows.h"
#include "export/text_file.h"

namespace whystop {
namespace {

/// A field as RFC 4180 wants it. A name that begins like a formula is kept from being one in a
/// spreadsheet.
std::string Field(std::string_view text) {
  std::string shown;
  if (!text.empty() && std::string_view("=+-@\t\r").find(text.front()) != std::string_view::npos) {
    shown = "'";
  }
  bool quote = false;
  for (const char c : text) {
    quote = quote || c == ',' || c == '"' || c == '\n' || c == '\r';
    shown += c == '"' ? "\"\"" : std::string(1, c);
  }
  return quote ? "\"" + shown + "\"" : shown;
}

template <typename T>
std::string OrNothing(const std::optional<T>& value) {
  return value ? fmt::format("{}", *value) : "";
}

class CsvExporter final : public Exporter {
 public:
  CsvExporter(TextFile file, bool resources)
      : file_(std::move(file)), rows_(resources, [this](const ExportRow& row) { Put(row); }) {
    file_.Append("seconds,step,epoch,series,role,rank,source,value\r\n");
  }
  void Push(const Event& event) override { rows_.Push(event); }
  Status Finish() override { return file_.Finish(); }

 private:
  void Put(const ExportRow& row) {
    file_.Append(fmt::format("{},{},{},{},{},{},{},{}\r\n",
                             std::chrono::duration<double>(row.at).count(), OrNothing(row.step),
                             OrNothing(row.epoch), Field(row.series), row.role, OrNothing(row.rank),
                             Field(row.source), row.value));
  }
  TextFile file_;
  RowMaker rows_;
};

}  // namespace

Result<std::unique_ptr<Exporter>> MakeCsv(const ExportSettings& settings) {
  auto file = TextFile::Create(settings.path);
  if (!file) {
    return file.error();
  }
  return std::unique_ptr<Exporter>(
      std::make_unique<CsvExporter>(std::move(*file), settings.resources));
}

}  // namespace whystop
