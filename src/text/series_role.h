#pragma once

#include <string_view>

#include "model/event.h"

namespace whystop {

/// What a series means, judged by its name alone, in the spellings of TensorBoard, Hugging Face,
/// Keras, Lightning, Ultralytics, Megatron, fairseq, detectron2 and hand-written loops
/// ("train/loss", "Loss/train", "val_acc", "lr-Adam/pg0", "metrics/mAP50(B)"). A term of a loss
/// ("box_loss") is called a loss here; see SeriesRoles. Only what is surely lower-is-better is a
/// loss, only what is surely higher-is-better a score; the rest is kOther.
SeriesRole RoleOfSeries(std::string_view name);

/// Whether the name is that of one term among several of a loss ("box_loss", "loss_rpn_cls"), not
/// of the whole.
bool IsLossTerm(std::string_view name);

/// The roles within one run, where it matters what else is logged: beside "loss", "loss_bbox" is
/// only a part of it; alone it is the best there is. Notes stay small: two flags.
class SeriesRoles {
 public:
  /// Makes a name known before any role is asked for, such as all columns of a header or keys of a
  /// row.
  void Note(std::string_view name);
  /// Also notes the name.
  SeriesRole Of(std::string_view name);
  /// Whether a total of the training or the validation loss is known.
  bool HasTotal(bool held_out) const { return held_out ? has_validation_total_ : has_train_total_; }

 private:
  bool has_train_total_ = false;
  bool has_validation_total_ = false;
};

}  // namespace whystop
