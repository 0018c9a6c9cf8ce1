#include <fmt/format.h>
#include <sqlite3.h>

#include <cmath>
#include <filesystem>
#include <map>
#include <string>
#include <system_error>

#include "export/exporters.h"
#include "export/rows.h"
#include "export/text_file.h"
#include "report/event_json.h"
#include "report/series_role_name.h"

namespace whystop {
namespace {

// Values that are not finite are texts ('NaN', 'Infinity'): SQLite makes NULL of a NaN.
constexpr const char* kSchema = R"sql(
PRAGMA journal_mode = OFF;
CREATE TABLE run(key TEXT PRIMARY KEY, value TEXT);
CREATE TABLE scalars(seconds REAL, step INTEGER, epoch REAL, series TEXT, role TEXT, rank INTEGER, source TEXT, value);
CREATE TABLE readings(seconds REAL, subject TEXT, quantity TEXT, value INTEGER);
CREATE TABLE tensors(seconds REAL, step INTEGER, what TEXT, tensor TEXT, count INTEGER, nan INTEGER, inf INTEGER, min, max, rms);
CREATE TABLE events(seconds REAL, kind TEXT, json TEXT);
BEGIN;
)sql";
constexpr const char* kClose = R"sql(
CREATE INDEX scalars_by_series ON scalars(series, step);
CREATE INDEX readings_by_quantity ON readings(quantity, seconds);
CREATE INDEX tensors_by_name ON tensors(tensor, step);
COMMIT;
)sql";

struct CloseDatabase {
  void operator()(sqlite3* database) const { sqlite3_close(database); }
};
struct CloseStatement {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Database = std::unique_ptr<sqlite3, CloseDatabase>;
using Statement = std::unique_ptr<sqlite3_stmt, CloseStatement>;

/// Fills one row of a prepared INSERT, from left to right.
class Row {
 public:
  explicit Row(sqlite3_stmt* statement) : statement_(statement) {}
  Row& Text(std::string_view text) {
    sqlite3_bind_text(statement_, ++column_, text.data(), static_cast<int>(text.size()),
                      SQLITE_TRANSIENT);
    return *this;
  }
  Row& Whole(std::int64_t value) {
    sqlite3_bind_int64(statement_, ++column_, value);
    return *this;
  }
  Row& Real(double value) {
    if (std::isfinite(value)) {
      sqlite3_bind_double(statement_, ++column_, value);
      return *this;
    }
    return Text(std::isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity");
  }
  template <typename T>
  Row& Maybe(const std::optional<T>& value) {
    if (!value) {
      ++column_;  // Reset left it NULL.
      return *this;
    }
    if constexpr (std::is_integral_v<T>) {
      return Whole(*value);
    } else {
      return Real(*value);
    }
  }
  bool Insert() {
    const bool done = sqlite3_step(statement_) == SQLITE_DONE;
    sqlite3_reset(statement_);
    sqlite3_clear_bindings(statement_);
    return done;
  }

 private:
  sqlite3_stmt* statement_;
  int column_ = 0;
};

std::string_view WordFor(TensorStats::What what) {
  constexpr std::string_view kWords[] = {"weight", "gradient", "update",    "input",
                                         "target", "output",   "activation"};
  return kWords[static_cast<std::size_t>(what)];
}

class SqliteExporter final : public Exporter {
 public:
  SqliteExporter(Database database, std::string path, std::string verdict)
      : database_(std::move(database)), path_(std::move(path)), verdict_(std::move(verdict)) {
    Execute(kSchema);
    scalars_ = Prepare("INSERT INTO scalars VALUES(?,?,?,?,?,?,?,?)");
    readings_ = Prepare("INSERT INTO readings VALUES(?,?,?,?)");
    tensors_ = Prepare("INSERT INTO tensors VALUES(?,?,?,?,?,?,?,?,?,?)");
    events_ = Prepare("INSERT INTO events VALUES(?,?,?)");
  }

  void Push(const Event& event) override {
    if (!ok_) {
      return;
    }
    const double seconds = std::chrono::duration<double>(event.at).count();
    if (const auto* scalar = event.As<Scalar>()) {
      ok_ = Row(scalars_.get())
                .Real(seconds)
                .Maybe(scalar->step)
                .Maybe(scalar->epoch)
                .Text(scalar->series)
                .Text(NameOf(scalar->role))
                .Maybe(scalar->rank)
                .Text(scalar->place.file.empty() ? "probe" : scalar->place.file)
                .Real(scalar->value)
                .Insert();
    } else if (const auto* stats = event.As<TensorStats>()) {
      Put(*stats, seconds);
    } else if (const auto* sample = event.As<Sample>()) {
      for (const Reading& reading : sample->readings) {
        const QuantityInfo* info = FindQuantity(reading.quantity);
        ok_ = ok_ && Row(readings_.get())
                         .Real(seconds)
                         .Text(subjects_[reading.subject])
                         .Text(info == nullptr ? "?" : info->name)
                         .Whole(reading.value)
                         .Insert();
      }
    } else {
      if (const auto* seen = event.As<SubjectSeen>()) {
        subjects_[seen->id] = SubjectPath(seen->subject);
      }
      ok_ = Row(events_.get()).Real(seconds).Text(KindOf(event)).Text(RenderEvent(event)).Insert();
    }
  }

  Status Finish() override {
    const Statement run = Prepare("INSERT INTO run VALUES(?,?)");
    ok_ = ok_ && Row(run.get()).Text("verdict").Text(verdict_).Insert();
    Execute(kClose);
    if (!ok_) {
      return Error{Error::Code::kIo,
                   fmt::format("cannot write '{}': {}", path_, sqlite3_errmsg(database_.get())),
                   "is there room on that file system?"};
    }
    return Ok{};
  }

 private:
  void Execute(const char* sql) {
    ok_ = ok_ && sqlite3_exec(database_.get(), sql, nullptr, nullptr, nullptr) == SQLITE_OK;
  }
  Statement Prepare(const char* sql) {
    sqlite3_stmt* made = nullptr;
    ok_ = ok_ && sqlite3_prepare_v2(database_.get(), sql, -1, &made, nullptr) == SQLITE_OK;
    return Statement(made);
  }
  void Put(const TensorStats& stats, double seconds) {
    const std::uint64_t finite = stats.count - stats.nan_count - stats.inf_count;
    const double rms = finite > 0 ? std::sqrt(stats.sum_squares / static_cast<double>(finite)) : 0;
    ok_ = Row(tensors_.get())
              .Real(seconds)
              .Whole(stats.step)
              .Text(WordFor(stats.what))
              .Text(stats.tensor)
              .Whole(static_cast<std::int64_t>(stats.count))
              .Whole(static_cast<std::int64_t>(stats.nan_count))
              .Whole(static_cast<std::int64_t>(stats.inf_count))
              .Real(stats.min)
              .Real(stats.max)
              .Real(rms)
              .Insert();
  }

  Database database_;  // Outlives the statements.
  std::string path_;
  std::string verdict_;
  Statement scalars_;
  Statement readings_;
  Statement tensors_;
  Statement events_;
  std::map<SubjectId, std::string> subjects_;
  bool ok_ = true;
};

}  // namespace

Result<std::unique_ptr<Exporter>> MakeSqlite(const ExportSettings& settings) {
  // Made by us first: owner only, and never over a file that is there.
  const auto taken = TextFile::Create(settings.path);
  if (!taken) {
    return taken.error();
  }
  sqlite3* opened = nullptr;
  const int fault = sqlite3_open(settings.path.c_str(), &opened);
  Database database(opened);
  if (fault != SQLITE_OK) {
    return Error{Error::Code::kIo, "cannot make database '" + settings.path + "'", ""};
  }
  return std::unique_ptr<Exporter>(
      std::make_unique<SqliteExporter>(std::move(database), settings.path, settings.verdict));
}

}  // namespace whystop
