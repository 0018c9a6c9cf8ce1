#include <protozero/pbf_builder.hpp>
#include <protozero/pbf_writer.hpp>

#include "record/fields.h"
#include "record/message.h"

namespace whystop {
namespace {

using protozero::pbf_writer;

void PutText(pbf_writer& out, std::uint32_t field, const std::string& text) {
  if (!text.empty()) {
    out.add_string(field, text);
  }
}

void PutEnd(pbf_writer& parent, std::uint32_t field, const std::optional<ChildEnd>& end) {
  if (!end) {
    return;
  }
  pbf_writer out(parent, field);
  const bool signaled = end->kind() == ChildEnd::Kind::kSignaled;
  out.add_bool(kEndSignaled, signaled);
  out.add_int32(kEndNumber, signaled ? end->signal() : end->exit_code());
  out.add_bool(kEndDumpedCore, end->dumped_core());
}

/// Adds the body of each kind of event under its field of Record.
class BodyWriter {
 public:
  explicit BodyWriter(pbf_writer& record) : record_(record) {}

  void operator()(const RunStart& start) {
    pbf_writer out(record_, kRecordRunStart);
    for (const std::string& argument : start.command) {
      out.add_string(1, argument);
    }
    PutText(out, 2, start.directory);
    PutText(out, 3, start.host);
    PutText(out, 4, start.user);
    out.add_int64(5, start.pid);
    out.add_int64(6, start.parent_pid);
    PutText(out, 7, start.parent_name);
    out.add_int64(8, start.wall.count());
    PutText(out, 9, start.boot_id);
    out.add_bool(10, start.terminal);
    for (const auto& [name, value] : start.environment) {
      pbf_writer variable(out, 11);
      variable.add_string(1, name);
      variable.add_string(2, value);
    }
    for (const auto& [name, value] : start.limits) {
      pbf_writer limit(out, 12);
      limit.add_string(1, name);
      limit.add_int64(2, value);
    }
    PutText(out, 13, start.whystop_version);
  }

  void operator()(const SubjectSeen& seen) {
    pbf_writer out(record_, kRecordSubjectSeen);
    out.add_uint32(1, seen.id);
    out.add_uint32(2, static_cast<std::uint32_t>(seen.subject.kind));
    PutText(out, 3, seen.subject.name);
    out.add_int64(4, seen.subject.number);
  }

  void operator()(const ProcessStart& start) {
    pbf_writer out(record_, kRecordProcessStart);
    out.add_int64(1, start.pid);
    out.add_int64(2, start.parent_pid);
    PutText(out, 3, start.name);
    PutText(out, 4, start.command);
  }

  void operator()(const ProcessEnd& ended) {
    pbf_writer out(record_, kRecordProcessEnd);
    out.add_int64(1, ended.pid);
    out.add_int64(2, ended.parent_pid);
    PutText(out, 3, ended.name);
    PutEnd(out, 4, ended.end);
    if (ended.rss_bytes_max) {
      out.add_int64(5, *ended.rss_bytes_max);
    }
    if (ended.cpu_ms) {
      out.add_int64(6, *ended.cpu_ms);
    }
    out.add_bool(7, ended.is_job);
  }

  void operator()(const SignalSeen& seen) {
    pbf_writer out(record_, kRecordSignalSeen);
    out.add_int32(1, seen.signal);
    if (seen.sender_pid) {
      out.add_int64(2, *seen.sender_pid);
    }
    if (seen.sender_uid) {
      out.add_int64(3, *seen.sender_uid);
    }
    PutText(out, 4, seen.sender_name);
    PutText(out, 5, seen.sender_command);
    out.add_bool(6, seen.from_kernel);
    out.add_bool(7, seen.forwarded);
    out.add_bool(8, seen.by_whystop);
  }

  void operator()(const ClockTie& tie) {
    pbf_writer out(record_, kRecordClockTie);
    out.add_int64(1, tie.wall.count());
    out.add_int64(2, tie.suspended.count());
  }

  void operator()(const KernelLine& line) {
    pbf_writer out(record_, kRecordKernelLine);
    out.add_string(1, line.text);
  }

  void operator()(const Drop& drop) {
    pbf_writer out(record_, kRecordDrop);
    out.add_string(1, drop.counter);
    out.add_int64(2, drop.count);
  }

  void operator()(const RecorderNote& note) {
    pbf_writer out(record_, kRecordRecorderNote);
    out.add_string(1, note.text);
  }

  void operator()(const RunEnd& end) {
    if (!end.end && !end.duration) {
      record_.add_message(kRecordRunEnd, "",
                          0);  // protozero leaves an empty part out; that it ended is a fact.
      return;
    }
    pbf_writer out(record_, kRecordRunEnd);
    PutEnd(out, 1, end.end);
    if (end.duration) {
      out.add_int64(2, end.duration->count());
    }
  }

  void operator()(const Observation& seen) {
    pbf_writer out(record_, kRecordObservation);
    out.add_string(1, seen.kind);
    if (seen.step) {
      out.add_int64(2, *seen.step);
    }
    if (seen.rank) {
      out.add_int32(3, *seen.rank);
    }
    for (const auto& [name, value] : seen.attributes) {
      pbf_writer attribute(out, 4);
      attribute.add_string(1, name);
      if (const double* number = std::get_if<double>(&value)) {
        attribute.add_double(2, *number);
      } else {
        attribute.add_string(3, std::get<std::string>(value));
      }
    }
  }

  /// Derived events are never recorded; samples go through EncodeSample.
  template <typename T>
  void operator()(const T& /*derived*/) {
    recorded_ = false;
  }

  bool recorded() const { return recorded_; }

 private:
  pbf_writer& record_;
  bool recorded_ = true;
};

}  // namespace

std::string EncodeEvent(const Event& event) {
  if (const Sample* sample = event.As<Sample>()) {
    return EncodeSample(event.at, *sample, /*key=*/true);
  }
  std::string message;
  pbf_writer record(message);
  record.add_int64(kRecordAt, event.at.count());
  BodyWriter body(record);
  std::visit(body, event.body);
  return body.recorded() ? message : std::string();
}

std::string EncodeSample(RunTime at, const Sample& sample, bool key) {
  std::string message;
  pbf_writer record(message);
  record.add_int64(kRecordAt, at.count());
  pbf_writer out(record, kRecordSample);
  out.add_bool(1, key);
  {
    protozero::packed_field_uint32 subjects(out, 2);
    for (const Reading& reading : sample.readings) {
      subjects.add_element(reading.subject);
    }
  }
  {
    protozero::packed_field_uint32 quantities(out, 3);
    for (const Reading& reading : sample.readings) {
      quantities.add_element(static_cast<std::uint32_t>(reading.quantity));
    }
  }
  {
    protozero::packed_field_sint64 values(out, 4);
    for (const Reading& reading : sample.readings) {
      values.add_element(reading.value);
    }
  }
  out.commit();
  return message;
}

std::string EncodeLog(RunTime at, LogStream stream, std::int64_t offset, std::string_view bytes) {
  std::string message;
  pbf_writer record(message);
  record.add_int64(kRecordAt, at.count());
  pbf_writer out(record, kRecordLogBytes);
  out.add_uint32(1, static_cast<std::uint32_t>(stream));
  out.add_int64(2, offset);
  out.add_bytes(3, bytes.data(), bytes.size());
  out.commit();
  return message;
}

std::string EncodeProbe(RunTime at, std::int64_t pid, std::string_view slots) {
  std::string message;
  pbf_writer record(message);
  record.add_int64(kRecordAt, at.count());
  pbf_writer out(record, kRecordProbeSlots);
  out.add_int64(1, pid);
  out.add_bytes(2, slots.data(), slots.size());
  out.commit();
  return message;
}

std::string EncodeHeader(const RecordingHeader& header) {
  std::string message;
  pbf_writer record(message);
  record.add_int64(kRecordAt, 0);
  pbf_writer out(record, kRecordHeader);
  out.add_uint32(1, header.format);
  out.add_string(2, header.whystop_version);
  out.commit();
  return message;
}

}  // namespace whystop
