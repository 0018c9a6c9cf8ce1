#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace whystop {

/// Splits one line of a table into fields, blanks and quotes around them removed. The fields are
/// views of `line`; a doubled quote inside quotes stays doubled. `fields` is reused. Fields beyond
/// `fields_max` are left out.
void SplitRow(std::string_view line, char separator, std::size_t fields_max,
              std::vector<std::string_view>& fields);

/// The separator that parts `header` into most fields: comma, semicolon, tab or bar. '\0': none of
/// them occurs.
char SniffSeparator(std::string_view header);

/// The number in a field: "0.43", "+1e-5", "nan", "tensor(0.43, device='cuda:0')", "0,43" where the
/// comma is no separator. Nullopt: no number.
std::optional<double> FieldNumber(std::string_view field);

/// Whether this line can be a header over `next`: names here, numbers below.
bool LooksLikeTable(std::string_view header, std::string_view next);

}  // namespace whystop
