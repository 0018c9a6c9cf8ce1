#pragma once

#include <cstdint>
#include <protozero/pbf_reader.hpp>
#include <string>
#include <vector>

namespace whystop {

/// protozero's reader for bytes that may not be ours: a field with another wire type than its message says is skipped
/// and reads as nothing, where protozero itself would assert.
class FieldReader {
 public:
  explicit FieldReader(protozero::pbf_reader reader) : reader_(reader) {}

  bool Next() { return reader_.next(); }
  std::uint32_t tag() const { return reader_.tag(); }
  void Skip() { reader_.skip(); }

  std::int64_t Int64() { return Is(protozero::pbf_wire_type::varint) ? reader_.get_int64() : 0; }
  std::int32_t Int32() { return Is(protozero::pbf_wire_type::varint) ? reader_.get_int32() : 0; }
  std::uint32_t Uint32() { return Is(protozero::pbf_wire_type::varint) ? reader_.get_uint32() : 0; }
  bool Bool() { return Is(protozero::pbf_wire_type::varint) && reader_.get_bool(); }
  double Double() { return Is(protozero::pbf_wire_type::fixed64) ? reader_.get_double() : 0; }
  std::string Text() { return Is(protozero::pbf_wire_type::length_delimited) ? reader_.get_string() : std::string(); }
  FieldReader Message() {
    return FieldReader(Is(protozero::pbf_wire_type::length_delimited) ? reader_.get_message() : protozero::pbf_reader());
  }
  void AppendPackedUint32(std::vector<std::uint32_t>& out) {
    if (Is(protozero::pbf_wire_type::length_delimited)) {
      for (const auto value : reader_.get_packed_uint32()) {  // insert() would decode twice: once to count.
        out.push_back(value);
      }
    }
  }
  void AppendPackedSint64(std::vector<std::int64_t>& out) {
    if (Is(protozero::pbf_wire_type::length_delimited)) {
      for (const auto value : reader_.get_packed_sint64()) {  // insert() would decode twice: once to count.
        out.push_back(value);
      }
    }
  }

 private:
  bool Is(protozero::pbf_wire_type type) {
    if (reader_.has_wire_type(type)) {
      return true;
    }
    reader_.skip();
    return false;
  }

  protozero::pbf_reader reader_;
};

}  // namespace whystop
