#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace whystop {

/// One HTML file that needs nothing else: the page of web/ with the runs inside it. `views`: each a
/// run as RenderView gives it, newest last.
std::string RenderHtml(const std::vector<std::string>& views);

/// The same page for `serve`: it asks this server for its data.
std::string RenderLivePage();

}  // namespace whystop
