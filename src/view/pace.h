#pragma once

#include <optional>
#include <vector>

#include "view/run_view.h"

namespace whystop {

/// How fast a run goes, and how long it will take at that pace.
struct Pace {
  std::optional<double> steps_a_second;
  std::optional<double> seconds_left;
};

/// Over the newer half of the run, so that loading and a slow start do not count.
Pace PaceOf(const RunView& view);

/// The share of the time between steps that goes into waiting for data, over the newer half of the
/// run. nullopt: not measured.
std::optional<double> DataWaitOf(const RunView& view);

/// The series that a person means by "the loss": the training loss with the most points, or else the
/// first series there is. nullptr: none.
const SeriesLine* LossSeries(const RunView& view);

/// The series that says whether it learns; where none is named, the loss. nullptr: none.
const SeriesLine* MainSeries(const RunView& view);

/// `count` means of a line from its start to its end, for a small picture; nullopt: not finite.
std::vector<std::optional<double>> SparkOf(const BucketLine& line, std::size_t count);

}  // namespace whystop
