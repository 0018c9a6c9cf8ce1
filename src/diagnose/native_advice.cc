#include "diagnose/native_advice.h"

#include <algorithm>

#include "cause/cause.h"
#include "sign/program_language.h"

namespace whystop {

void TranslateAdvice(const CaseFile& run, std::vector<VerdictCause>& causes) {
  if (!IsNativeProgram(run)) {
    return;
  }
  for (VerdictCause& cause : causes) {
    const CausePage* page = FindPage(cause.id);
    const bool has_own = page != nullptr && !page->native_fixes.empty();
    std::erase_if(cause.fixes, [&](const std::string& fix) {
      return SpeaksPython(fix) || (has_own && std::find(page->fixes.begin(), page->fixes.end(), fix) != page->fixes.end());
    });
    if (has_own) {
      cause.fixes.insert(cause.fixes.end(), page->native_fixes.begin(), page->native_fixes.end());
    }
  }
}

}  // namespace whystop
