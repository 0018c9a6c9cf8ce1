#pragma once

// What must hold for any bytes, used by the fuzzers and by the test that replays their findings.

#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/crc32.h"
#include "base/little_endian.h"
#include "base/tfrecord.h"
#include "import/byte_source.h"
#include "import/csv/table_reader.h"
#include "import/jsonl/jsonl_reader.h"
#include "import/series_log.h"
#include "import/sniff.h"
#include "import/tensorboard/event_reader.h"
#include "import/trainer_state/trainer_state_reader.h"
#include "import/wandb/wandb_reader.h"

namespace whystop {

/// Adds up events so that two readings of the same bytes can be compared.
class EventTally final : public EventSink {
 public:
  void Push(const Event& event) override {
    Mix(event.body.index());
    if (const Scalar* scalar = event.As<Scalar>()) {
      std::uint64_t bits = 0;
      std::memcpy(&bits, &scalar->value, sizeof(bits));
      Mix(std::hash<std::string>()(scalar->series));
      Mix(bits);
      Mix(static_cast<std::uint64_t>(scalar->step.value_or(-1)));
    }
    if (const Drop* drop = event.As<Drop>()) {
      Mix(std::hash<std::string>()(drop->counter) + static_cast<std::uint64_t>(drop->count));
    }
  }
  std::uint64_t sum() const { return sum_; }

 private:
  void Mix(std::uint64_t value) { sum_ = (sum_ ^ value) * 0x9e3779b97f4a7c15ULL + 1; }
  std::uint64_t sum_ = 0;
};

using ReadInto = void (*)(ByteSource& source, SeriesLog& log);

/// Bytes in pieces of any size give the same events.
inline void CheckReader(std::string_view bytes, ReadInto read) {
  std::uint64_t first_sum = 0;
  for (const std::size_t piece_bytes : {std::size_t{1} << 20, std::size_t{7}, std::size_t{1000}}) {
    EventTally tally;
    SeriesLog log("fuzz", tally);
    MemorySource source(bytes, piece_bytes);
    read(source, log);
    log.Finish();
    first_sum = first_sum == 0 ? tally.sum() : first_sum;
    WS_CHECK(tally.sum() == first_sum, "the pieces that a file comes in must not matter");
  }
  static_cast<void>(SniffBytes(bytes));
}

class DropConsole final : public ConsoleText {
 public:
  void Feed(std::string_view, RunTime) override {}
  void Finish(RunTime, bool) override {}
};

/// The bodies that `bytes` spell: each begins with its length as one byte. Behind sound checksums a
/// fuzzer never gets by chance.
template <typename OnBody>
void ForEachBody(std::string_view bytes, OnBody on_body) {
  while (!bytes.empty()) {
    const auto size = static_cast<unsigned char>(bytes.front());
    on_body(bytes.substr(1, size));
    bytes.remove_prefix(std::min<std::size_t>(bytes.size(), 1U + size));
  }
}

inline void CheckTensorBoard(std::string_view bytes) {
  const ReadInto read = [](ByteSource& source, SeriesLog& log) {
    EventReader(log, "").Read(source);
  };
  CheckReader(bytes, read);
  std::string framed;
  ForEachBody(bytes, [&framed](std::string_view body) { AppendTfRecord(framed, body); });
  CheckReader(framed, read);
}

inline void CheckWandb(std::string_view bytes) {
  const ReadInto read = [](ByteSource& source, SeriesLog& log) {
    DropConsole console;
    WandbReader(log, console).Read(source);
  };
  CheckReader(bytes, read);
  std::string framed(":W&B\xe1\xbe\0", 7);
  ForEachBody(bytes, [&framed](std::string_view body) {
    if (framed.size() / 32768 != (framed.size() + body.size() + 7) / 32768) {
      framed.append(32768 - framed.size() % 32768, '\0');  // Whole chunks only.
    }
    const std::string checked = '\1' + std::string(body);
    AppendLittle<std::uint32_t>(framed, Crc32(checked));
    AppendLittle<std::uint16_t>(framed, static_cast<std::uint16_t>(body.size()));
    framed.append(checked);
  });
  CheckReader(framed, read);
}

inline void CheckCsv(std::string_view bytes) {
  CheckReader(bytes, [](ByteSource& source, SeriesLog& log) { TableReader(log).Read(source); });
}

inline void CheckJsonl(std::string_view bytes) {
  CheckReader(bytes, &ReadJsonLines);
  CheckReader(bytes, &ReadJsonHistory);
}

inline void CheckTrainerState(std::string_view bytes) { CheckReader(bytes, &ReadTrainerState); }

}  // namespace whystop
