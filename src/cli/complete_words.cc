#include "cause/cause.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/home.h"
#include "cli/recorded_run.h"

namespace whystop {

int CompleteWords(const CompleteWordsOptions& options) {
  std::string text;
  if (options.kind == "recordings") {
    for (const RecordedRun& run : ListRecordings()) {
      text += LastPart(run.path) + "\n";
    }
  } else {
    for (const CausePage& page : AllPages()) {
      text += std::string(page.id) + "\n";
    }
  }
  Print(text);
  return 0;
}

}  // namespace whystop
