#include "import/flight_recorder/flight_reader.h"

#include <gtest/gtest.h>

#include <vector>

#include "import/sniff.h"
#include "model/collect_events.h"

namespace whystop {
namespace {

std::string Text(const std::string& text) {
  return "X" + std::string(1, static_cast<char>(text.size())) + std::string(3, '\0') + text;
}

/// What Python's pickle (protocol 2) makes of a dump with one collective that did not end.
std::string Dump() {
  const std::string frame = "}(" + Text("filename") + Text("/job/train.py") + Text("line") + "K\x0c" + Text("name") +
                            Text("step") + "u";
  const std::string library = "}(" + Text("filename") + Text("/x/site-packages/torch/a.py") + Text("line") + "K\x01" +
                              Text("name") + Text("f") + "u";
  const std::string entry = "}(" + Text("collective_seq_id") + "K\x06" + Text("process_group") + Text("0") +
                            Text("default_pg") + "\x86" + Text("profiling_name") + Text("nccl:all_reduce") +
                            Text("state") + Text("started") + Text("retired") + "\x89" + Text("is_p2p") + "\x89" +
                            Text("input_sizes") + "]](K\x04K\x02" + "ea" + Text("frames") + "](" + library + frame + "e" + "u";
  const std::string config = "}" + Text("0") + "}(" + Text("ranks") + Text("[0, 1, 2]") + "us";
  return "\x80\x02}q" + std::string(1, '\0') + "(" + Text("pg_config") + config + Text("entries") + "](" + entry + "eu.";
}

std::vector<Event> Read(const std::string& bytes, const std::string& path) {
  CollectEvents events;
  ReadFlightRecord(bytes, path, events);
  return events.events;
}

TEST(FlightRecord, TellsTheCollectiveThatDidNotEndAndTheUsersLine) {
  EXPECT_EQ(SniffBytes(Dump()), FileKind::kFlightRecord);
  const auto events = Read(Dump(), "/tmp/nccl_trace_rank_12");
  ASSERT_EQ(events.size(), 1U);
  const auto* seen = events[0].As<Observation>();
  ASSERT_NE(seen, nullptr);
  EXPECT_EQ(seen->rank, 12);
  EXPECT_EQ(*seen->Text("call"), "nccl:all_reduce");
  EXPECT_EQ(*seen->Text("sizes"), "[4x2]");
  EXPECT_EQ(*seen->Text("file"), "/job/train.py");
  EXPECT_EQ(seen->Number("line"), 12);
  EXPECT_EQ(seen->Number("ranks"), 3);
  EXPECT_EQ(seen->Number("sequence"), 6);
  EXPECT_EQ(seen->Number("done"), 0);
}

TEST(FlightRecord, CutAtAnyByteIsCountedAndNothingElse) {
  const std::string dump = Dump();
  for (std::size_t size = 0; size < dump.size(); ++size) {
    const auto events = Read(dump.substr(0, size), "rank_0");
    ASSERT_EQ(events.size(), 1U) << size;
    EXPECT_NE(events[0].As<Drop>(), nullptr) << size;
  }
}

TEST(FlightRecord, ThatAsksForCodeIsNotObeyed) {
  const auto events = Read("\x80\x02" "cos\nsystem\n" + Text("true") + "\x85R.", "rank_0");
  ASSERT_EQ(events.size(), 1U);
  EXPECT_NE(events[0].As<Drop>(), nullptr);
}

TEST(FlightRecord, WithValuesOfOtherTypesDoesNoHarm) {
  std::string dump = Dump();
  for (std::size_t i = 2; i < dump.size(); ++i) {
    for (const char byte : {'}', ']', 'N', '(', 'e', 'u', 's', 'a'}) {
      const char before = dump[i];
      dump[i] = byte;
      Read(dump, "rank_0");
      dump[i] = before;
    }
  }
}

}  // namespace
}  // namespace whystop
