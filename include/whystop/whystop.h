#ifndef WHYSTOP_WHYSTOP_H_
#define WHYSTOP_WHYSTOP_H_

/*
 * whystop's client library: a training program tells the flight recorder what it does.
 *
 *     ws_run* run = ws_open();                 // NULL when not started by `whystop run`
 *     ws_plan(run, epochs, steps);
 *     ws_lr(run, 0.01);
 *     ws_step(run, step, loss);                // after each optimizer step
 *     ws_close(run);
 *
 * Every function accepts a NULL run and then does nothing, so no `if` is needed. No function
 * prints, aborts, throws, waits or sets errno; after ws_open none allocates memory. What was passed
 * before a SIGKILL is on record. A forked child's copy of a run is silent; the child may call
 * ws_open itself. Threads may share a run. The records are written to a file that docs/wire.md
 * describes.
 */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define WS_API __attribute__((visibility("default")))
#else
#define WS_API
#endif

typedef struct ws_run ws_run;

/* What a series means. */
typedef enum ws_role {
  WS_OTHER = 0,
  WS_TRAIN_LOSS = 1,
  WS_VALIDATION_LOSS = 2,
  WS_LEARNING_RATE = 3,
  WS_GRADIENT_NORM = 4,
  WS_LOSS_SCALE = 5,
  WS_TRAIN_SCORE = 6, /* Accuracy, reward: higher is better. */
  WS_VALIDATION_SCORE = 7
} ws_role;

/* What a tensor is. */
typedef enum ws_what {
  WS_WEIGHT = 0,
  WS_GRADIENT = 1,
  WS_UPDATE = 2,
  WS_INPUT = 3,
  WS_TARGET = 4,
  WS_OUTPUT = 5,
  WS_ACTIVATION = 6
} ws_what;

typedef enum ws_dtype { WS_F32 = 0, WS_F64 = 1, WS_F16 = 2, WS_BF16 = 3 } ws_dtype;

/* Begins the run of this process, if `whystop run` started it. */
WS_API ws_run* ws_open(void);
/* The run ends in good order. The handle must not be used afterwards. */
WS_API void ws_close(ws_run* run);

/* Which of how many processes of one training this is, unless RANK and WORLD_SIZE say so. */
WS_API void ws_rank(ws_run* run, int rank, int world_size);
/* How far training means to go; 0 or less: not known. */
WS_API void ws_plan(ws_run* run, double epochs, int64_t steps);
/* An epoch begins, counted from 1. */
WS_API void ws_epoch(ws_run* run, double epoch);
/* "train", "eval" or a word of your own. */
WS_API void ws_phase(ws_run* run, const char* phase);
/* The learning rate of the following steps. */
WS_API void ws_lr(ws_run* run, double lr);
/* An optimizer step is done. The time since the last call is recorded as its duration. */
WS_API void ws_step(ws_run* run, int64_t step, double loss);
/* A point of any other series; step -1: none. */
WS_API void ws_scalar(ws_run* run, const char* name, ws_role role, int64_t step, double value);

/* One step with everything known about it; `present` says which fields count. */
typedef struct ws_step_record {
  int64_t step;
  double loss, lr, wait_s, duration_s;
  uint32_t flags;   /* WS_STEP_* */
  uint32_t present; /* WS_HAS_* */
} ws_step_record;
enum { WS_HAS_LOSS = 1, WS_HAS_LR = 2, WS_HAS_WAIT = 4, WS_HAS_DURATION = 8 };
enum {
  WS_STEP_SKIPPED = 1,  /* The optimizer's step was skipped. */
  WS_STEP_LAST_ONLY = 2 /* Keep it as the newest step, but do not spend a slot of the ring on it. */
};
WS_API void ws_step_all(ws_run* run, const ws_step_record* record);

typedef struct ws_progress_record {
  double epoch, epochs_planned;
  int64_t step, steps_planned;
  uint32_t present; /* 1, 2, 4, 8 in that order. */
} ws_progress_record;
WS_API void ws_progress(ws_run* run, const ws_progress_record* record);

/* Anything else, by name and attributes. An attribute is a text where `text` is not NULL, else a
 * number. */
typedef struct ws_attribute {
  const char* key;
  const char* text;
  double number;
} ws_attribute;
WS_API void ws_note(ws_run* run, const char* kind, int64_t step, const ws_attribute* attributes,
                    size_t count);

/* Facts about the values of one tensor. min to abs_max and below[] are of the finite values only (0
 * if there are none). below[i] counts values with |x| < 2^-24, 2^-14, 2^-7, 1 - 2^-7, 2, 65520. */
typedef struct ws_stats {
  uint64_t count, nan_count, inf_count, zero_count;
  double min, max, sum, sum_squares, abs_max;
  uint64_t below[6];
} ws_stats;

typedef struct ws_tensor_view {
  const void* data; /* Contiguous. */
  size_t count;     /* Values, not bytes. */
  ws_dtype dtype;
} ws_tensor_view;

/* Computes the facts of many tensors in one call. Counts, min, max and abs_max are exact; the sums
 * differ from an exact sum by less than 2^-19 of the sum of magnitudes. */
WS_API void ws_tensor_stats(const ws_tensor_view* tensors, size_t count, ws_stats* out);
/* Computes and records them. One pass over memory: sample, rather than call it for everything at
 * each step. */
WS_API void ws_tensor(ws_run* run, ws_what what, const char* name, int64_t step,
                      const ws_tensor_view* tensor);
/* Records facts that were computed elsewhere. */
WS_API void ws_record_stats(ws_run* run, ws_what what, const char* name, int64_t step,
                            const ws_stats* stats);

/*
 * What the probe for Python sees by itself, and a trainer in another language may tell: with it
 * whystop can say why a run does not learn. All are optional. The texts and meanings are those of
 * docs/observations.md.
 */
WS_API void ws_model(ws_run* run, const char* name, const char* activations, int64_t parameters,
                     int64_t trainable);
WS_API void ws_optimizer(ws_run* run, const char* name, double lr, double momentum,
                         double weight_decay);
/* Totals so far: steps of the optimizer, backward passes, gradients set to zero. Call it now and
 * then, and at the end. */
WS_API void ws_calls(ws_run* run, int64_t steps, int64_t backwards, int64_t zero_grads);
/* The class numbers of the training samples, 0 up to 63. */
WS_API void ws_labels(ws_run* run, const int32_t* labels, size_t count);
/* What the model was given, row by row. */
WS_API void ws_inputs(ws_run* run, int64_t step, const float* values, size_t rows, size_t columns);
/* What an activation layer ("ReLU", "Tanh" or "Sigmoid": others are not told) put out, row by row.
 */
WS_API void ws_activations(ws_run* run, int64_t step, const char* layer, const char* type,
                           const float* values, size_t rows, size_t units);
/* A call of the loss: "cross_entropy" with `targets` as class numbers, or "mse_loss" with as many
 * targets as outputs. */
typedef struct ws_loss_call {
  const char* function;
  const float* outputs; /* rows x columns */
  const float* targets; /* rows, or rows x columns */
  size_t rows, columns;
  int64_t call; /* Counted from 1. */
} ws_loss_call;
WS_API void ws_loss(ws_run* run, int64_t step, const ws_loss_call* call);
/* The first value that was not finite: "input", "weight", "gradient" or "loss". */
WS_API void ws_not_finite(ws_run* run, int64_t step, const char* first);
/* The loop is left before its planned end: under which condition, and what its names stood at
 * ("wait=3, patience=3"). */
WS_API void ws_stop(ws_run* run, const char* file, int line, const char* condition,
                    const char* values);

/* For bindings: bits of the ring's header (docs/wire.md), and whether this process may write. */
WS_API void ws_set_flags(ws_run* run, uint32_t bits);
WS_API int ws_alive(const ws_run* run);
WS_API ws_run* ws_open_as(uint32_t writer, const char* writer_name);

#ifdef __cplusplus
}
#endif

#endif /* WHYSTOP_WHYSTOP_H_ */
