// The verdict itself: any sequence of events gives one that fits its published schema and says nothing against itself.

#include <rapidjson/document.h>
#include <rapidjson/schema.h>
#include <rapidjson/stringbuffer.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/fd.h"
#include "diagnose/analysis.h"
#include "diagnose/made_up_events.h"
#include "diagnose/verdict_properties.h"
#include "report/json_report.h"

namespace {

const rapidjson::SchemaDocument& Schema() {
  static const rapidjson::SchemaDocument schema = [] {
    const auto text = whystop::ReadFile(WHYSTOP_VERDICT_SCHEMA);
    WS_CHECK(text, "the schema is where it was when this was built");
    rapidjson::Document document;
    document.Parse(text->c_str());
    WS_CHECK(!document.HasParseError(), "the schema is JSON");
    return rapidjson::SchemaDocument(document);
  }();
  return schema;
}

void CheckSchema(const std::string& json) {
  rapidjson::Document document;
  document.Parse(json.c_str());
  WS_CHECK(!document.HasParseError(), "a verdict is JSON");
  rapidjson::SchemaValidator validator(Schema());
  if (!document.Accept(validator)) {
    rapidjson::StringBuffer where;
    validator.GetInvalidDocumentPointer().StringifyUriFragment(where);
    const std::string text = std::string(where.GetString()) + " breaks " + validator.GetInvalidSchemaKeyword() + "\n" + json;
    WS_CHECK(false, text.c_str());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  whystop::Analysis analysis;
  bool process_gone = false;
  whystop::MakeUpRun({reinterpret_cast<const char*>(data), size}, process_gone, [&](const whystop::Event& event) { analysis.Push(event); });
  const whystop::Verdict verdict = analysis.Judge(!process_gone);
  const std::string json = whystop::RenderJson(verdict);
  CheckSchema(json);
  for (const std::string& fault : whystop::Contradictions(verdict, process_gone)) {
    WS_CHECK(false, (fault + "\n" + json).c_str());
  }
  return 0;
}
