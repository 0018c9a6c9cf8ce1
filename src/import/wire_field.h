#pragma once

#include <protozero/pbf_reader.hpp>
#include <string_view>

namespace whystop {

/// A field of a protobuf message together with the only wire type it may have. protozero asserts
/// when asked for another type than the bytes hold, so readers of foreign files switch on both.
constexpr std::uint32_t VarintField(protozero::pbf_tag_type field) {
  return protozero::tag_and_type(field, protozero::pbf_wire_type::varint);
}
constexpr std::uint32_t DoubleField(protozero::pbf_tag_type field) {
  return protozero::tag_and_type(field, protozero::pbf_wire_type::fixed64);
}
constexpr std::uint32_t FloatField(protozero::pbf_tag_type field) {
  return protozero::tag_and_type(field, protozero::pbf_wire_type::fixed32);
}
constexpr std::uint32_t BytesField(protozero::pbf_tag_type field) {
  return protozero::tag_and_type(field, protozero::pbf_wire_type::length_delimited);
}

inline std::string_view TakeView(protozero::pbf_reader& field) {
  const protozero::data_view view = field.get_view();
  return {view.data(), view.size()};
}

/// Goes to the next field of that number that holds bytes.
inline bool NextBytes(protozero::pbf_reader& reader, protozero::pbf_tag_type field) {
  return reader.next(field, protozero::pbf_wire_type::length_delimited);
}

}  // namespace whystop
