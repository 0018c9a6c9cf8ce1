#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/metric_line.h"

namespace whystop {

/// Dialects that name their columns once and then print bare numbers (Ultralytics):
///       Epoch    GPU_mem   box_loss   cls_loss   dfl_loss  Instances       Size
///       1/150        21G      1.385      1.094     0.8692         88       1024: 100%|...
///                  Class     Images  Instances      Box(P          R      mAP50  mAP50-95)
///                    all        453        907      0.792      0.805      0.841      0.382
/// and fastai:
///   epoch     train_loss  valid_loss  accuracy  time
///   0         2.310000    2.290000    0.120000  00:12
/// and tables with commas between other lines:
///   epoch,loss,val_loss
///   0,0.6807,0.5581
class ColumnTable {
 public:
  /// True: the line is a header, remembered.
  bool PushHeader(std::string_view line);
  /// True: the line is a row of the last header; `out` holds its numbers. `line` must outlive
  /// `out`'s keys' use.
  bool ReadRow(std::string_view line, MetricLine& out);

 private:
  bool PushCommaHeader(std::string_view text);
  bool ReadCommaRow(std::string_view text, MetricLine& out) const;
  static bool ReadBareRow(std::string_view line, MetricLine& out);
  bool ReadPlainRow(const std::vector<std::string_view>& words, MetricLine& out) const;
  bool ReadClassRow(const std::vector<std::string_view>& words, MetricLine& out) const;

  std::vector<std::string> columns_;        // Of "Epoch ..." headers.
  std::vector<std::string> plain_columns_;  // Of "epoch ..." headers.
  std::vector<std::string> comma_columns_;  // Of ",loss,acc".
  std::vector<std::string> class_columns_;  // Of "Class ..." headers.
  int headers_ = 0;                         // One an epoch.
  std::optional<double> row_epoch_;  // Absent: the bars with the rows went to another stream.
};

}  // namespace whystop
