#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <new>
#include <span>
#include <string_view>

#include "base/clock.h"
#include "client/tensor_stats.h"
#include "whystop/whystop.h"
#include "wire/observation_encoder.h"
#include "wire/ring_writer.h"

/// The run of one process: its ring, and what one call leaves for the next. It lives in pages of
/// its own, because the library takes no heap: the trainee's allocator may be the very thing that
/// is broken.
struct ws_run {
  whystop::RingWriter ring;
  double lr = 0;
  bool has_lr = false;
  std::int64_t last_step_ns = 0;
  double epochs_planned = 0;
  std::int64_t steps_planned = 0;
};

namespace {

using whystop::ProgressBody;
using whystop::StepBody;

std::int32_t NumberFromEnvironment(const char* name, std::int32_t fallback) {
  const char* text = std::getenv(name);
  if (text == nullptr || *text == '\0') {
    return fallback;
  }
  std::int32_t value = 0;
  for (; *text != '\0'; ++text) {
    if (*text < '0' || *text > '9' || value > 100'000'000) {
      return fallback;
    }
    value = value * 10 + (*text - '0');
  }
  return value;
}

std::string_view TextOf(const char* text) { return text == nullptr ? "" : text; }

/// More than the record will take.
std::size_t EncodedBytesMax(std::string_view kind, std::span<const ws_attribute> facts) {
  std::size_t bytes = 16 + kind.size();
  for (const ws_attribute& fact : facts) {
    bytes += 16 + TextOf(fact.key).size() + TextOf(fact.text).size();
  }
  return bytes;
}

void Note(ws_run* run, std::string_view kind, std::int64_t step,
          std::span<const ws_attribute> facts, std::span<char> room) {
  whystop::ObservationEncoder encoder(kind, room);
  if (step >= 0) {
    encoder.SetStep(step);
  }
  for (const ws_attribute& fact : facts) {
    if (fact.text != nullptr) {
      encoder.Add(TextOf(fact.key), TextOf(fact.text));
    } else {
      encoder.Add(TextOf(fact.key), fact.number);
    }
  }
  run->ring.Observation(encoder.body());
}

/// Two functions, so that a short record takes a short stack: a signal handler may write one, on an
/// alternate stack that is smaller than the longest record.
[[gnu::noinline]] void NoteShort(ws_run* run, std::string_view kind, std::int64_t step,
                                 std::span<const ws_attribute> facts) {
  char room[whystop::ObservationEncoder::kRoomMin];
  Note(run, kind, step, facts, room);
}

[[gnu::noinline]] void NoteLong(ws_run* run, std::string_view kind, std::int64_t step,
                                std::span<const ws_attribute> facts) {
  whystop::ObservationRoom room;
  Note(run, kind, step, facts, room.bytes);
}

static_assert(sizeof(ws_step_record) == sizeof(StepBody));
static_assert(sizeof(((ws_stats*)nullptr)->below) == sizeof(((whystop::StatsBody*)nullptr)->below));

}  // namespace

extern "C" {

ws_run* ws_open(void) { return ws_open_as(1, "libwhystop 0.1.0"); }

ws_run* ws_open_as(uint32_t writer, const char* writer_name) {
  whystop::RingWriterOptions options;
  options.directory = std::getenv("WHYSTOP_RING_DIR");
  if (options.directory == nullptr || *options.directory == '\0') {
    return nullptr;
  }
  options.slot_count = static_cast<std::uint32_t>(
      NumberFromEnvironment("WHYSTOP_RING_SLOTS", whystop::kSlotCountDefault));
  options.rank = NumberFromEnvironment("RANK", -1);
  options.local_rank = NumberFromEnvironment("LOCAL_RANK", -1);
  options.world_size = NumberFromEnvironment("WORLD_SIZE", -1);
  options.writer = writer;
  options.writer_name = writer_name == nullptr ? "" : writer_name;
  void* pages =
      mmap(nullptr, sizeof(ws_run), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) {
    return nullptr;
  }
  auto* run = new (pages) ws_run;
  if (!run->ring.Open(options)) {
    ws_close(run);
    return nullptr;
  }
  return run;
}

void ws_close(ws_run* run) {
  if (run != nullptr) {
    run->~ws_run();
    munmap(static_cast<void*>(run), sizeof(ws_run));
  }
}

int ws_alive(const ws_run* run) { return run != nullptr && run->ring.alive() ? 1 : 0; }

void ws_set_flags(ws_run* run, uint32_t bits) {
  if (run != nullptr) {
    run->ring.SetFlags(bits);
  }
}

void ws_rank(ws_run* run, int rank, int world_size) {
  if (run != nullptr) {
    run->ring.SetRank(rank, world_size);
  }
}

void ws_plan(ws_run* run, double epochs, int64_t steps) {
  if (run != nullptr) {
    run->epochs_planned = epochs;
    run->steps_planned = steps;
    ws_epoch(run, 0);
  }
}

void ws_epoch(ws_run* run, double epoch) {
  if (run != nullptr) {
    const std::uint32_t present = (epoch > 0 ? ProgressBody::kEpoch : 0) |
                                  (run->epochs_planned > 0 ? ProgressBody::kEpochs : 0) |
                                  (run->steps_planned > 0 ? ProgressBody::kSteps : 0);
    run->ring.Progress({epoch, run->epochs_planned, 0, run->steps_planned, present, 0});
  }
}

void ws_progress(ws_run* run, const ws_progress_record* record) {
  if (run != nullptr && record != nullptr) {
    run->ring.Progress({record->epoch, record->epochs_planned, record->step, record->steps_planned,
                        record->present, 0});
  }
}

void ws_phase(ws_run* run, const char* phase) {
  if (run != nullptr) {
    run->ring.Phase(TextOf(phase));
  }
}

void ws_lr(ws_run* run, double lr) {
  if (run != nullptr) {
    run->lr = lr;
    run->has_lr = true;
  }
}

void ws_step(ws_run* run, int64_t step, double loss) {
  if (run == nullptr) {
    return;
  }
  const std::int64_t now_ns = whystop::MonotonicNow().count();
  const bool has_duration = run->last_step_ns != 0;
  const ws_step_record record = {
      step,
      loss,
      run->lr,
      0,
      has_duration ? static_cast<double>(now_ns - run->last_step_ns) * 1e-9 : 0,
      0,
      StepBody::kLoss | (run->has_lr ? StepBody::kLr : 0) |
          (has_duration ? StepBody::kDuration : 0)};
  run->last_step_ns = now_ns;
  ws_step_all(run, &record);
}

void ws_step_all(ws_run* run, const ws_step_record* record) {
  if (run != nullptr && record != nullptr) {
    StepBody body;
    std::memcpy(&body, record, sizeof(body));
    body.flags &= ~static_cast<std::uint32_t>(WS_STEP_LAST_ONLY);
    run->ring.Step(body, (record->flags & WS_STEP_LAST_ONLY) != 0);
  }
}

void ws_scalar(ws_run* run, const char* name, ws_role role, int64_t step, double value) {
  if (run != nullptr) {
    const bool has_step = step >= 0;
    run->ring.Scalar(TextOf(name), {.name = 0,
                                    .step = has_step ? step : 0,
                                    .value = value,
                                    .role = static_cast<std::uint8_t>(role),
                                    .present = static_cast<std::uint8_t>(has_step ? 1 : 0),
                                    .zero = {}});
  }
}

void ws_note(ws_run* run, const char* kind, int64_t step, const ws_attribute* attributes,
             size_t count) {
  if (run == nullptr || !run->ring.alive()) {
    return;
  }
  const std::span<const ws_attribute> facts(attributes, count);
  if (EncodedBytesMax(TextOf(kind), facts) <= whystop::ObservationEncoder::kRoomMin) {
    NoteShort(run, TextOf(kind), step, facts);
  } else {
    NoteLong(run, TextOf(kind), step, facts);
  }
}

void ws_tensor_stats(const ws_tensor_view* tensors, size_t count, ws_stats* out) {
  const whystop::StatsKernels& kernels = whystop::BestStatsKernels();
  for (std::size_t i = 0; i < count; ++i) {
    const ws_tensor_view& tensor = tensors[i];
    std::memset(&out[i], 0, sizeof(out[i]));
    switch (tensor.dtype) {
      case WS_F32:
        kernels.f32(static_cast<const float*>(tensor.data), tensor.count, out[i]);
        break;
      case WS_F64:
        kernels.f64(static_cast<const double*>(tensor.data), tensor.count, out[i]);
        break;
      case WS_F16:
        kernels.f16(static_cast<const std::uint16_t*>(tensor.data), tensor.count, out[i]);
        break;
      case WS_BF16:
        kernels.bf16(static_cast<const std::uint16_t*>(tensor.data), tensor.count, out[i]);
        break;
    }
  }
}

void ws_record_stats(ws_run* run, ws_what what, const char* name, int64_t step,
                     const ws_stats* stats) {
  if (run == nullptr || stats == nullptr) {
    return;
  }
  whystop::StatsBody body{};
  body.step = step;
  body.what = static_cast<std::uint8_t>(what);
  body.count = stats->count;
  body.nan_count = stats->nan_count;
  body.inf_count = stats->inf_count;
  body.zero_count = stats->zero_count;
  body.min = stats->min;
  body.max = stats->max;
  body.sum = stats->sum;
  body.sum_squares = stats->sum_squares;
  body.abs_max = stats->abs_max;
  std::memcpy(body.below, stats->below, sizeof(body.below));
  run->ring.Stats(TextOf(name), body);
}

void ws_tensor(ws_run* run, ws_what what, const char* name, int64_t step,
               const ws_tensor_view* tensor) {
  if (run != nullptr && tensor != nullptr && run->ring.alive()) {
    ws_stats stats;
    ws_tensor_stats(tensor, 1, &stats);
    ws_record_stats(run, what, name, step, &stats);
  }
}

}  // extern "C"
