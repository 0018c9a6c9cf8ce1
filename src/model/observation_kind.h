#pragma once

namespace whystop {

/// Kinds of Observation that come from files a run left behind. The probe's own kinds are listed in
/// docs/wire.md.

/// A new run begins in the same file; what stood before is history. Numbers "from" and "to" of the
/// text "counter"
/// ("step" or "epoch") that went back.
inline constexpr char kSessionStart[] = "session-start";
/// As above, but the counter went back only a part of the way: the run went on from a checkpoint.
inline constexpr char kSessionResumed[] = "session-resumed";
/// A metric file without a single point: the run ended (or stands) before its first logged step.
/// Text "file".
inline constexpr char kMetricsEmpty[] = "metrics-empty";
/// The last entries of a Hugging Face trainer_state.json. Numbers, as far as present:
/// "global_step", "max_steps", "epoch", "num_train_epochs", "best_metric", "best_step",
/// "eval_steps", "early_stopping_patience", "early_stopping_counter", "should_training_stop";
/// "checkpoint" 1: taken in mid-run.
inline constexpr char kTrainerState[] = "trainer-state";
/// The trainer's closing row: its loop ended by itself. Numbers "train_runtime", "train_loss", ...
inline constexpr char kTrainerSummary[] = "trainer-summary";
/// How the run ended in the words of its tracker (W&B): number "exit_code", absent when there is no
/// exit record.
inline constexpr char kTrackerExit[] = "tracker-exit";
/// The run asked its tracker to note that it is about to be preempted.
inline constexpr char kTrackerPreempting[] = "tracker-preempting";
/// The run's settings as its tracker or event file holds them: numbers and texts under the user's
/// own names.
inline constexpr char kRunConfig[] = "run-config";

}  // namespace whystop
