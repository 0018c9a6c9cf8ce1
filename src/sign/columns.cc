// What columns of the inputs tell over many rows: marks for gaps, and codes of kinds given as sizes.
#include <algorithm>
#include <cmath>
#include <optional>

#include "base/human.h"
#include "model/observations.h"
#include "sign/observed.h"
#include "sign/signs.h"
#include "sign/training.h"
#include "sign/words.h"

namespace whystop {
namespace {

/// By how much a value that comes in a share of the rows, so many deviations away from the rest, squeezes
/// the rest together when the column is brought to a deviation of 1.
double SqueezedBy(const seen::Columns& columns) {
  const double share = columns.spike_share.value_or(0);
  const double distance = columns.spike_distance.value_or(0);
  return std::sqrt(1 + share * (1 - share) * distance * distance);
}

std::string Column(std::optional<std::int64_t> index) {
  return "column " + HumanCount(index.value_or(0)) + " of the inputs";
}

}  // namespace

/// The real values are left in a narrow band beside one value far outside, also after scaling.
Sign LookColumnsHoldMarks(const Training& training) {
  constexpr double kSqueezed = 5;
  const auto tables = ObservationsOf(training.run, "columns");
  for (const Observation* table : tables) {
    const auto columns = As<seen::Columns>(*table);
    const double squeezed = SqueezedBy(columns);
    if (columns.spiked.value_or(0) > 0 && squeezed >= kSqueezed) {
      return YesSign("batch",
                     Column(columns.spike_column) + " holds " +
                         HumanNumber(columns.spike_value.value_or(0)) + " in " +
                         Percent(columns.spike_share.value_or(0)) + " of the rows, " +
                         HumanNumber(columns.spike_distance.value_or(0), 2) +
                         " deviations away from all others: a mark for \"missing\", which squeezes the real values " +
                         HumanNumber(squeezed, 2) + " times together",
                     {}, squeezed / kSqueezed);
    }
  }
  return tables.empty() ? NotSeenSign() : NoSign();
}

/// The mark is given to the model as it is, beside it the real values are next to one and the same, and a good part of the task is not learned.
Sign LookMarksDwarfTheRest(const Training& training) {
  constexpr double kSqueezed = 100;
  constexpr double kLarge = 30;  // As of any input: `unscaled-inputs`.
  constexpr double kLeft = 0.15;  // Of what the mean of the targets, or guessing, costs.
  for (const Observation* table : ObservationsOf(training.run, "columns")) {
    const auto columns = As<seen::Columns>(*table);
    if (columns.spiked.value_or(0) > 0 && SqueezedBy(columns) >= kSqueezed && std::abs(columns.spike_value.value_or(0)) > kLarge) {
      return AnswerSign(training.share > kLeft, "series", "the loss ends at " + Percent(training.share) + " of what knowing nothing costs");
    }
  }
  return NotSeenSign();
}

/// The kinds say much of the targets, their numbers little, there is no order in them, and a good part of what they say was not learned,
/// even if all that was learned is of it.
Sign LookCodesTellByKind(const Training& training) {
  constexpr double kMoreByKind = 0.1;
  constexpr double kNoOrder = 1;  // Half of what chance gives.
  constexpr double kLeft = 0.25;  // Of what the kinds say.
  std::optional<seen::Columns> columns;  // The last ones: they rest on the most rows.
  for (const Observation* table : ObservationsOf(training.run, "columns")) {
    columns = As<seen::Columns>(*table).told_by_kind ? As<seen::Columns>(*table) : columns;
  }
  if (!columns) {
    return NotSeenSign();
  }
  const double by_kind = columns->told_by_kind.value_or(0);
  const double by_line = columns->told_by_line.value_or(0);
  const double left = by_kind - (1 - training.share);
  return AnswerSign(by_kind - by_line > kMoreByKind && columns->code_order.value_or(0) > kNoOrder &&
                        left > std::max(kMoreByKind, kLeft * by_kind),
                    "batch",
                    Column(columns->code_column) + " holds " + HumanCount(columns->code_values.value_or(0)) +
                        " whole numbers in no order: each by itself tells " + Percent(by_kind) +
                        " of the targets' variance, their size " + Percent(by_line) + "; the loss ends at " +
                        Percent(training.share) + " of it");
}

}  // namespace whystop
