#include <protozero/exception.hpp>
#include <protozero/pbf_reader.hpp>

#include "record/fields.h"
#include "record/message.h"

namespace whystop {
namespace {

using protozero::pbf_reader;

std::optional<ChildEnd> ReadEnd(pbf_reader in) {
  bool signaled = false;
  bool dumped_core = false;
  int number = 0;
  while (in.next()) {
    switch (in.tag()) {
      case kEndSignaled:
        signaled = in.get_bool();
        break;
      case kEndNumber:
        number = in.get_int32();
        break;
      case kEndDumpedCore:
        dumped_core = in.get_bool();
        break;
      default:
        in.skip();
    }
  }
  return signaled ? ChildEnd::Signaled(number, dumped_core) : ChildEnd::Exited(number);
}

template <typename Value, typename Read>
std::pair<std::string, Value> ReadPair(pbf_reader in, Read read) {
  std::pair<std::string, Value> pair;
  while (in.next()) {
    if (in.tag() == 1) {
      pair.first = in.get_string();
    } else if (in.tag() == 2) {
      pair.second = read(in);
    } else {
      in.skip();
    }
  }
  return pair;
}

RunStart ReadRunStart(pbf_reader in) {
  RunStart start;
  while (in.next()) {
    switch (in.tag()) {
      case 1:
        start.command.push_back(in.get_string());
        break;
      case 2:
        start.directory = in.get_string();
        break;
      case 3:
        start.host = in.get_string();
        break;
      case 4:
        start.user = in.get_string();
        break;
      case 5:
        start.pid = in.get_int64();
        break;
      case 6:
        start.parent_pid = in.get_int64();
        break;
      case 7:
        start.parent_name = in.get_string();
        break;
      case 8:
        start.wall = std::chrono::nanoseconds(in.get_int64());
        break;
      case 9:
        start.boot_id = in.get_string();
        break;
      case 10:
        start.terminal = in.get_bool();
        break;
      case 11:
        start.environment.insert(
            ReadPair<std::string>(in.get_message(), [](pbf_reader& at) { return at.get_string(); }));
        break;
      case 12:
        start.limits.insert(
            ReadPair<std::int64_t>(in.get_message(), [](pbf_reader& at) { return at.get_int64(); }));
        break;
      case 13:
        start.whystop_version = in.get_string();
        break;
      default:
        in.skip();
    }
  }
  return start;
}

SubjectSeen ReadSubject(pbf_reader in) {
  SubjectSeen seen;
  while (in.next()) {
    switch (in.tag()) {
      case 1:
        seen.id = in.get_uint32();
        break;
      case 2:
        seen.subject.kind = static_cast<Subject::Kind>(in.get_uint32() & 0xff);
        break;
      case 3:
        seen.subject.name = in.get_string();
        break;
      case 4:
        seen.subject.number = in.get_int64();
        break;
      default:
        in.skip();
    }
  }
  return seen;
}

Sample ReadSample(pbf_reader in) {
  std::vector<std::uint32_t> subjects;
  std::vector<std::uint32_t> quantities;
  std::vector<std::int64_t> values;
  while (in.next()) {
    switch (in.tag()) {
      case 2:
        for (const std::uint32_t subject : in.get_packed_uint32()) {
          subjects.push_back(subject);
        }
        break;
      case 3:
        for (const std::uint32_t quantity : in.get_packed_uint32()) {
          quantities.push_back(quantity);
        }
        break;
      case 4:
        for (const std::int64_t value : in.get_packed_sint64()) {
          values.push_back(value);
        }
        break;
      default:
        in.skip();
    }
  }
  const std::size_t count = std::min({subjects.size(), quantities.size(), values.size()});
  Sample sample;
  sample.readings.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    sample.readings.push_back({subjects[i], static_cast<Quantity>(quantities[i] & 0xffff), values[i]});
  }
  return sample;
}

ProcessStart ReadProcessStart(pbf_reader in) {
  ProcessStart start;
  while (in.next()) {
    switch (in.tag()) {
      case 1:
        start.pid = in.get_int64();
        break;
      case 2:
        start.parent_pid = in.get_int64();
        break;
      case 3:
        start.name = in.get_string();
        break;
      case 4:
        start.command = in.get_string();
        break;
      default:
        in.skip();
    }
  }
  return start;
}

ProcessEnd ReadProcessEnd(pbf_reader in) {
  ProcessEnd ended;
  while (in.next()) {
    switch (in.tag()) {
      case 1:
        ended.pid = in.get_int64();
        break;
      case 2:
        ended.parent_pid = in.get_int64();
        break;
      case 3:
        ended.name = in.get_string();
        break;
      case 4:
        ended.end = ReadEnd(in.get_message());
        break;
      case 5:
        ended.rss_bytes_max = in.get_int64();
        break;
      case 6:
        ended.cpu_ms = in.get_int64();
        break;
      case 7:
        ended.is_job = in.get_bool();
        break;
      default:
        in.skip();
    }
  }
  return ended;
}

SignalSeen ReadSignal(pbf_reader in) {
  SignalSeen seen;
  while (in.next()) {
    switch (in.tag()) {
      case 1:
        seen.signal = in.get_int32();
        break;
      case 2:
        seen.sender_pid = in.get_int64();
        break;
      case 3:
        seen.sender_uid = in.get_int64();
        break;
      case 4:
        seen.sender_name = in.get_string();
        break;
      case 5:
        seen.sender_command = in.get_string();
        break;
      case 6:
        seen.from_kernel = in.get_bool();
        break;
      case 7:
        seen.forwarded = in.get_bool();
        break;
      case 8:
        seen.by_whystop = in.get_bool();
        break;
      default:
        in.skip();
    }
  }
  return seen;
}

/// For messages of one or two plain fields: calls `read(tag, reader)` for each, which returns false to skip it.
template <typename Read>
void ReadFields(pbf_reader in, Read read) {
  while (in.next()) {
    if (!read(in.tag(), in)) {
      in.skip();
    }
  }
}

ClockTie ReadClockTie(pbf_reader in) {
  ClockTie tie;
  ReadFields(in, [&tie](std::uint32_t tag, pbf_reader& at) {
    if (tag == 1) {
      tie.wall = std::chrono::nanoseconds(at.get_int64());
    } else if (tag == 2) {
      tie.suspended = std::chrono::nanoseconds(at.get_int64());
    }
    return tag == 1 || tag == 2;
  });
  return tie;
}

std::string ReadOneText(pbf_reader in) {
  std::string text;
  ReadFields(in, [&text](std::uint32_t tag, pbf_reader& at) {
    if (tag == 1) {
      text = at.get_string();
    }
    return tag == 1;
  });
  return text;
}

Drop ReadDrop(pbf_reader in) {
  Drop drop;
  ReadFields(in, [&drop](std::uint32_t tag, pbf_reader& at) {
    if (tag == 1) {
      drop.counter = at.get_string();
    } else if (tag == 2) {
      drop.count = at.get_int64();
    }
    return tag == 1 || tag == 2;
  });
  return drop;
}

RunEnd ReadRunEnd(pbf_reader in) {
  RunEnd end;
  ReadFields(in, [&end](std::uint32_t tag, pbf_reader& at) {
    if (tag == 1) {
      end.end = ReadEnd(at.get_message());
    } else if (tag == 2) {
      end.duration = std::chrono::nanoseconds(at.get_int64());
    }
    return tag == 1 || tag == 2;
  });
  return end;
}

void ReadAttribute(pbf_reader in, Observation& seen) {
  std::string name;
  Observation::Value value;
  ReadFields(in, [&name, &value](std::uint32_t tag, pbf_reader& at) {
    if (tag == 1) {
      name = at.get_string();
    } else if (tag == 2) {
      value = at.get_double();
    } else if (tag == 3) {
      value = at.get_string();
    }
    return tag >= 1 && tag <= 3;
  });
  seen.attributes[name] = std::move(value);
}

Observation ReadObservation(pbf_reader in) {
  Observation seen;
  ReadFields(in, [&seen](std::uint32_t tag, pbf_reader& at) {
    switch (tag) {
      case 1:
        seen.kind = at.get_string();
        return true;
      case 2:
        seen.step = at.get_int64();
        return true;
      case 3:
        seen.rank = at.get_int32();
        return true;
      case 4:
        ReadAttribute(at.get_message(), seen);
        return true;
      default:
        return false;
    }
  });
  return seen;
}

LogBytes ReadLogBytes(pbf_reader in) {
  LogBytes log;
  ReadFields(in, [&log](std::uint32_t tag, pbf_reader& at) {
    if (tag == 1) {
      log.stream = static_cast<LogStream>(at.get_uint32() & 0xff);
    } else if (tag == 2) {
      log.offset = at.get_int64();
    } else if (tag == 3) {
      log.bytes = at.get_bytes();
    }
    return tag >= 1 && tag <= 3;
  });
  return log;
}

ProbeSlots ReadProbeSlots(pbf_reader in) {
  ProbeSlots probe;
  ReadFields(in, [&probe](std::uint32_t tag, pbf_reader& at) {
    if (tag == 1) {
      probe.pid = at.get_int64();
    } else if (tag == 2) {
      probe.slots = at.get_bytes();
    }
    return tag == 1 || tag == 2;
  });
  return probe;
}

RecordingHeader ReadHeader(pbf_reader in) {
  RecordingHeader header;
  ReadFields(in, [&header](std::uint32_t tag, pbf_reader& at) {
    if (tag == 1) {
      header.format = at.get_uint32();
    } else if (tag == 2) {
      header.whystop_version = at.get_string();
    }
    return tag == 1 || tag == 2;
  });
  return header;
}

/// Reads the body that `field` names into `record`; false for a kind this build does not know.
bool ReadBody(std::uint32_t field, pbf_reader& in, Record& record) {
  auto event = [&record](EventBody body) { record.body = Event{{}, std::move(body)}; };
  switch (field) {
    case kRecordHeader:
      record.body = ReadHeader(in.get_message());
      return true;
    case kRecordRunStart:
      event(ReadRunStart(in.get_message()));
      return true;
    case kRecordSubjectSeen:
      event(ReadSubject(in.get_message()));
      return true;
    case kRecordSample:
      event(ReadSample(in.get_message()));
      return true;
    case kRecordProcessStart:
      event(ReadProcessStart(in.get_message()));
      return true;
    case kRecordProcessEnd:
      event(ReadProcessEnd(in.get_message()));
      return true;
    case kRecordSignalSeen:
      event(ReadSignal(in.get_message()));
      return true;
    case kRecordClockTie:
      event(ReadClockTie(in.get_message()));
      return true;
    case kRecordKernelLine:
      event(KernelLine{ReadOneText(in.get_message())});
      return true;
    case kRecordLogBytes:
      record.body = ReadLogBytes(in.get_message());
      return true;
    case kRecordProbeSlots:
      record.body = ReadProbeSlots(in.get_message());
      return true;
    case kRecordDrop:
      event(ReadDrop(in.get_message()));
      return true;
    case kRecordRecorderNote:
      event(RecorderNote{ReadOneText(in.get_message())});
      return true;
    case kRecordRunEnd:
      event(ReadRunEnd(in.get_message()));
      return true;
    case kRecordObservation:
      event(ReadObservation(in.get_message()));
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
    pbf_reader in(message.data(), message.size());
    while (in.next()) {
      if (in.tag() == kRecordAt) {
        record.at = RunTime(in.get_int64());
      } else if (ReadBody(in.tag(), in, record)) {
        known = true;
      } else {
        in.skip();
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
    return std::nullopt;  // The frame's checksum held, so this is another writer's message, not damage.
  }
}

}  // namespace whystop
