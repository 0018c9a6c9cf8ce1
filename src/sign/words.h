#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "model/case_file.h"

namespace whystop {

/// Case-blind search for any of the words.
bool MentionsAny(std::string_view text, std::initializer_list<std::string_view> words);
/// "12 %", "0.3 %".
std::string Percent(double share);
/// The word that a finding gives under this name, or "".
std::string FactText(const Finding& finding, const std::string& name);

}  // namespace whystop
