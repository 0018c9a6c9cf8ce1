#include <protozero/exception.hpp>

#include "record/field_reader.h"
#include "record/fields.h"
#include "record/message.h"

namespace whystop {
namespace {

std::optional<ChildEnd> ReadEnd(FieldReader in) {
  bool signaled = false;
  bool dumped_core = false;
  int number = 0;
  while (in.Next()) {
    switch (in.tag()) {
      case kEndSignaled:
        signaled = in.Bool();
        break;
      case kEndNumber:
        number = in.Int32();
        break;
      case kEndDumpedCore:
        dumped_core = in.Bool();
        break;
      default:
        in.Skip();
    }
  }
  return signaled ? ChildEnd::Signaled(number, dumped_core) : ChildEnd::Exited(number);
}

template <typename Value, typename Read>
std::pair<std::string, Value> ReadPair(FieldReader in, Read read) {
  std::pair<std::string, Value> pair;
  while (in.Next()) {
    if (in.tag() == 1) {
      pair.first = in.Text();
    } else if (in.tag() == 2) {
      pair.second = read(in);
    } else {
      in.Skip();
    }
  }
  return pair;
}

RunStart ReadRunStart(FieldReader in) {
  RunStart start;
  while (in.Next()) {
    switch (in.tag()) {
      case 1:
        start.command.push_back(in.Text());
        break;
      case 2:
        start.directory = in.Text();
        break;
      case 3:
        start.host = in.Text();
        break;
      case 4:
        start.user = in.Text();
        break;
      case 5:
        start.pid = in.Int64();
        break;
      case 6:
        start.parent_pid = in.Int64();
        break;
      case 7:
        start.parent_name = in.Text();
        break;
      case 8:
        start.wall = std::chrono::nanoseconds(in.Int64());
        break;
      case 9:
        start.boot_id = in.Text();
        break;
      case 10:
        start.terminal = in.Bool();
        break;
      case 11:
        start.environment.insert(
            ReadPair<std::string>(in.Message(), [](FieldReader& at) { return at.Text(); }));
        break;
      case 12:
        start.limits.insert(
            ReadPair<std::int64_t>(in.Message(), [](FieldReader& at) { return at.Int64(); }));
        break;
      case 13:
        start.whystop_version = in.Text();
        break;
      default:
        in.Skip();
    }
  }
  return start;
}

SubjectSeen ReadSubject(FieldReader in) {
  SubjectSeen seen;
  while (in.Next()) {
    switch (in.tag()) {
      case 1:
        seen.id = in.Uint32();
        break;
      case 2:
        seen.subject.kind = static_cast<Subject::Kind>(in.Uint32() & 0xff);
        break;
      case 3:
        seen.subject.name = in.Text();
        break;
      case 4:
        seen.subject.number = in.Int64();
        break;
      default:
        in.Skip();
    }
  }
  return seen;
}

/// Three columns of equal length, each written as one packed field. A day of samples is millions of
/// readings: they are decoded in place.
Sample ReadSample(FieldReader in) {
  std::string_view columns[3];
  while (in.Next()) {
    const std::uint32_t tag = in.tag();  // Taking a field forgets it.
    if (tag >= 2 && tag <= 4) {
      columns[tag - 2] = in.Packed();
    } else {
      in.Skip();
    }
  }
  PackedVarints subjects(columns[0]);
  PackedVarints quantities(columns[1]);
  PackedVarints values(columns[2]);
  Sample sample;
  sample.readings.reserve(columns[1].size());  // A number takes a byte or more.
  while (!subjects.empty() && !quantities.empty() && !values.empty()) {
    const auto subject = static_cast<std::uint32_t>(subjects.Take());
    const auto quantity = static_cast<Quantity>(quantities.Take() & 0xffff);
    sample.readings.push_back({subject, quantity, protozero::decode_zigzag64(values.Take())});
  }
  return sample;
}

ProcessStart ReadProcessStart(FieldReader in) {
  ProcessStart start;
  while (in.Next()) {
    switch (in.tag()) {
      case 1:
        start.pid = in.Int64();
        break;
      case 2:
        start.parent_pid = in.Int64();
        break;
      case 3:
        start.name = in.Text();
        break;
      case 4:
        start.command = in.Text();
        break;
      default:
        in.Skip();
    }
  }
  return start;
}

ProcessEnd ReadProcessEnd(FieldReader in) {
  ProcessEnd ended;
  while (in.Next()) {
    switch (in.tag()) {
      case 1:
        ended.pid = in.Int64();
        break;
      case 2:
        ended.parent_pid = in.Int64();
        break;
      case 3:
        ended.name = in.Text();
        break;
      case 4:
        ended.end = ReadEnd(in.Message());
        break;
      case 5:
        ended.rss_bytes_max = in.Int64();
        break;
      case 6:
        ended.cpu_ms = in.Int64();
        break;
      case 7:
        ended.is_job = in.Bool();
        break;
      default:
        in.Skip();
    }
  }
  return ended;
}

SignalSeen ReadSignal(FieldReader in) {
  SignalSeen seen;
  while (in.Next()) {
    switch (in.tag()) {
      case 1:
        seen.signal = in.Int32();
        break;
      case 2:
        seen.sender_pid = in.Int64();
        break;
      case 3:
        seen.sender_uid = in.Int64();
        break;
      case 4:
        seen.sender_name = in.Text();
        break;
      case 5:
        seen.sender_command = in.Text();
        break;
      case 6:
        seen.from_kernel = in.Bool();
        break;
      case 7:
        seen.forwarded = in.Bool();
        break;
      case 8:
        seen.by_whystop = in.Bool();
        break;
      default:
        in.Skip();
    }
  }
  return seen;
}

/// For messages of one or two plain fields: calls `read(tag, reader)` for each, which returns false
/// to skip it.
template <typename Read>
void ReadFields(FieldReader in, Read read) {
  while (in.Next()) {
    if (!read(in.tag(), in)) {
      in.Skip();
    }
  }
}

ClockTie ReadClockTie(FieldReader in) {
  ClockTie tie;
  ReadFields(in, [&tie](std::uint32_t tag, FieldReader& at) {
    if (tag == 1) {
      tie.wall = std::chrono::nanoseconds(at.Int64());
    } else if (tag == 2) {
      tie.suspended = std::chrono::nanoseconds(at.Int64());
    }
    return tag == 1 || tag == 2;
  });
  return tie;
}

std::string ReadOneText(FieldReader in) {
  std::string text;
  ReadFields(in, [&text](std::uint32_t tag, FieldReader& at) {
    if (tag == 1) {
      text = at.Text();
    }
    return tag == 1;
  });
  return text;
}

Drop ReadDrop(FieldReader in) {
  Drop drop;
  ReadFields(in, [&drop](std::uint32_t tag, FieldReader& at) {
    if (tag == 1) {
      drop.counter = at.Text();
    } else if (tag == 2) {
      drop.count = at.Int64();
    }
    return tag == 1 || tag == 2;
  });
  return drop;
}

RunEnd ReadRunEnd(FieldReader in) {
  RunEnd end;
  ReadFields(in, [&end](std::uint32_t tag, FieldReader& at) {
    if (tag == 1) {
      end.end = ReadEnd(at.Message());
    } else if (tag == 2) {
      end.duration = std::chrono::nanoseconds(at.Int64());
    }
    return tag == 1 || tag == 2;
  });
  return end;
}

void ReadAttribute(FieldReader in, Observation& seen) {
  std::string name;
  Observation::Value value;
  ReadFields(in, [&name, &value](std::uint32_t tag, FieldReader& at) {
    if (tag == 1) {
      name = at.Text();
    } else if (tag == 2) {
      value = at.Double();
    } else if (tag == 3) {
      value = at.Text();
    }
    return tag >= 1 && tag <= 3;
  });
  seen.attributes[name] = std::move(value);
}

Observation ReadObservation(FieldReader in) {
  Observation seen;
  ReadFields(in, [&seen](std::uint32_t tag, FieldReader& at) {
    switch (tag) {
      case 1:
        seen.kind = at.Text();
        return true;
      case 2:
        seen.step = at.Int64();
        return true;
      case 3:
        seen.rank = at.Int32();
        return true;
      case 4:
        ReadAttribute(at.Message(), seen);
        return true;
      default:
        return false;
    }
  });
  return seen;
}

LogBytes ReadLogBytes(FieldReader in) {
  LogBytes log;
  ReadFields(in, [&log](std::uint32_t tag, FieldReader& at) {
    if (tag == 1) {
      log.stream = static_cast<LogStream>(at.Uint32() & 0xff);
    } else if (tag == 2) {
      log.offset = at.Int64();
    } else if (tag == 3) {
      log.bytes = at.Text();
    }
    return tag >= 1 && tag <= 3;
  });
  return log;
}

ProbeSlots ReadProbeSlots(FieldReader in) {
  ProbeSlots probe;
  ReadFields(in, [&probe](std::uint32_t tag, FieldReader& at) {
    if (tag == 1) {
      probe.pid = at.Int64();
    } else if (tag == 2) {
      probe.slots = at.Text();
    }
    return tag == 1 || tag == 2;
  });
  return probe;
}

RecordingHeader ReadHeader(FieldReader in) {
  RecordingHeader header;
  ReadFields(in, [&header](std::uint32_t tag, FieldReader& at) {
    if (tag == 1) {
      header.format = at.Uint32();
    } else if (tag == 2) {
      header.whystop_version = at.Text();
    }
    return tag == 1 || tag == 2;
  });
  return header;
}

/// Reads the body that `field` names into `record`; false for a kind this build does not know.
bool ReadBody(std::uint32_t field, FieldReader& in, Record& record) {
  auto event = [&record](EventBody body) { record.body = Event{{}, std::move(body)}; };
  switch (field) {
    case kRecordHeader:
      record.body = ReadHeader(in.Message());
      return true;
    case kRecordRunStart:
      event(ReadRunStart(in.Message()));
      return true;
    case kRecordSubjectSeen:
      event(ReadSubject(in.Message()));
      return true;
    case kRecordSample:
      event(ReadSample(in.Message()));
      return true;
    case kRecordProcessStart:
      event(ReadProcessStart(in.Message()));
      return true;
    case kRecordProcessEnd:
      event(ReadProcessEnd(in.Message()));
      return true;
    case kRecordSignalSeen:
      event(ReadSignal(in.Message()));
      return true;
    case kRecordClockTie:
      event(ReadClockTie(in.Message()));
      return true;
    case kRecordKernelLine:
      event(KernelLine{ReadOneText(in.Message())});
      return true;
    case kRecordLogBytes:
      record.body = ReadLogBytes(in.Message());
      return true;
    case kRecordProbeSlots:
      record.body = ReadProbeSlots(in.Message());
      return true;
    case kRecordDrop:
      event(ReadDrop(in.Message()));
      return true;
    case kRecordRecorderNote:
      event(RecorderNote{ReadOneText(in.Message())});
      return true;
    case kRecordRunEnd:
      event(ReadRunEnd(in.Message()));
      return true;
    case kRecordObservation:
      event(ReadObservation(in.Message()));
      return true;
    default:
      return false;
  }
}

}  // namespace

std::optional<Record> DecodeRecord(std::string_view message) {
  try {
    Record record;
    bool known = false;
    FieldReader in(protozero::pbf_reader(message.data(), message.size()));
    while (in.Next()) {
      if (in.tag() == kRecordAt) {
        record.at = RunTime(in.Int64());
      } else if (in.IsMessage() && ReadBody(in.tag(), in, record)) {
        known = true;
      } else {
        in.Skip();
      }
    }
    if (!known) {
      return std::nullopt;
    }
    if (Event* event = std::get_if<Event>(&record.body)) {
      event->at = record.at;
    }
    return record;
  } catch (const protozero::exception&) {
    return std::nullopt;  // The frame's checksum held, so this is another writer's message, not
                          // damage.
  }
}

}  // namespace whystop
