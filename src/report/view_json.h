#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/verdict.h"
#include "view/run_view.h"

namespace whystop {

/// The page of a cause that the verdict names.
struct NamedPage {
  std::string_view id;
  std::string_view title;
  std::string_view text;
};

/// One run as the page draws it (web/src/data.ts describes the fields): the verdict as `why --json`
/// gives it, lines, marks, heat map, processes, excerpts and the pages of its causes.
std::string RenderView(const RunView& view, const Verdict& verdict,
                       const std::vector<NamedPage>& pages);

}  // namespace whystop
