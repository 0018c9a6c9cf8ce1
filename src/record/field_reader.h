#pragma once

#include <cstdint>
#include <protozero/pbf_reader.hpp>
#include <protozero/varint.hpp>
#include <string>
#include <string_view>

namespace whystop {

/// protozero's reader for bytes that may not be ours: a field with another wire type than its
/// message says is skipped and reads as nothing, where protozero itself would assert.
class FieldReader {
 public:
  explicit FieldReader(protozero::pbf_reader reader) : reader_(reader) {}

  bool Next() { return reader_.next(); }
  std::uint32_t tag() const { return reader_.tag(); }
  void Skip() { reader_.skip(); }
  bool IsMessage() const {
    return reader_.has_wire_type(protozero::pbf_wire_type::length_delimited);
  }

  std::int64_t Int64() { return Is(protozero::pbf_wire_type::varint) ? reader_.get_int64() : 0; }
  std::int32_t Int32() { return Is(protozero::pbf_wire_type::varint) ? reader_.get_int32() : 0; }
  std::uint32_t Uint32() { return Is(protozero::pbf_wire_type::varint) ? reader_.get_uint32() : 0; }
  /// As a number: protozero's get_bool looks at its byte before it has made sure that there is one.
  bool Bool() { return Is(protozero::pbf_wire_type::varint) && reader_.get_uint64() != 0; }
  double Double() { return Is(protozero::pbf_wire_type::fixed64) ? reader_.get_double() : 0; }
  std::string Text() {
    return Is(protozero::pbf_wire_type::length_delimited) ? reader_.get_string() : std::string();
  }
  FieldReader Message() {
    return FieldReader(Is(protozero::pbf_wire_type::length_delimited) ? reader_.get_message()
                                                                      : protozero::pbf_reader());
  }
  /// A packed field's own bytes, for PackedVarints.
  std::string_view Packed() {
    if (!Is(protozero::pbf_wire_type::length_delimited)) {
      return {};
    }
    const protozero::data_view view = reader_.get_view();
    return {view.data(), view.size()};
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

/// The numbers of a packed field, one after the other, without a copy of them all.
class PackedVarints {
 public:
  explicit PackedVarints(std::string_view bytes)
      : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  bool empty() const { return at_ == end_; }
  /// Throws protozero::exception where a number is cut, as all its decoders do.
  std::uint64_t Take() { return protozero::decode_varint(&at_, end_); }

 private:
  const char* at_;
  const char* end_;
};

}  // namespace whystop
