#include <fmt/format.h>

#include "cause/cause.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/nearest.h"
#include "report/json_writer.h"

namespace whystop {
namespace {

void PutPage(JsonWriter& out, const CausePage& page) {
  out.Open();
  out.Text("id", page.id);
  out.Text("title", page.title);
  out.OpenList("fixes");
  for (const std::string_view fix : page.fixes) {
    out.Text("", fix);
  }
  out.CloseList();
  out.Text("page", page.text);
  out.Close();
}

int List(bool json) {
  if (json) {
    JsonWriter out(2);
    out.OpenList();
    for (const CausePage& page : AllPages()) {
      PutPage(out, page);
    }
    out.CloseList();
    Print(out.text() + "\n");
    return 0;
  }
  std::string text;
  for (const CausePage& page : AllPages()) {
    text += fmt::format("{:<30} {}\n", page.id, page.title);
  }
  Print(text);
  return 0;
}

}  // namespace

int Explain(const ExplainOptions& options) {
  if (options.cause.empty()) {
    return List(options.json);
  }
  const CausePage* page = FindPage(options.cause);
  if (page == nullptr) {
    std::vector<std::string> ids;
    for (const CausePage& known : AllPages()) {
      ids.emplace_back(known.id);
    }
    Complain(
        fmt::format("no cause is called '{}'{}", options.cause, DidYouMean(options.cause, ids)),
        "'whystop explain' lists them all");
    return kExitUsage;
  }
  if (!options.json) {
    Print(page->text);
    return 0;
  }
  JsonWriter out(2);
  PutPage(out, *page);
  Print(out.text() + "\n");
  return 0;
}

}  // namespace whystop
