#include "import/tensorboard/tensor_value.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "import/wire_field.h"

namespace whystop {
namespace {

// Field numbers of tensorflow.TensorProto and values of tensorflow.DataType.
constexpr protozero::pbf_tag_type kDtype = 1;
constexpr protozero::pbf_tag_type kContent = 4;
constexpr protozero::pbf_tag_type kFloatVal = 5;
constexpr protozero::pbf_tag_type kDoubleVal = 6;
constexpr protozero::pbf_tag_type kIntVal = 7;
constexpr protozero::pbf_tag_type kStringVal = 8;
constexpr protozero::pbf_tag_type kInt64Val = 10;
constexpr protozero::pbf_tag_type kHalfVal = 13;
constexpr std::int32_t kFloat = 1;
constexpr std::int32_t kDouble = 2;
constexpr std::int32_t kInt32 = 3;
constexpr std::int32_t kInt64 = 9;
constexpr std::int32_t kBfloat16 = 14;
constexpr std::int32_t kHalf = 19;
constexpr std::size_t kTextBytesMax = 4096;

double FromHalf(std::uint32_t bits) {
  const double sign = (bits & 0x8000U) != 0 ? -1.0 : 1.0;
  const auto exponent = static_cast<int>((bits >> 10) & 0x1fU);
  const auto mantissa = static_cast<double>(bits & 0x3ffU);
  if (exponent == 31) {
    return mantissa == 0 ? sign * HUGE_VAL : std::nan("");
  }
  return sign *
         (exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(mantissa + 1024, exponent - 25));
}

double FromSixteenBits(std::int32_t dtype, std::uint32_t bits) {
  return dtype == kBfloat16 ? static_cast<double>(std::bit_cast<float>(bits << 16))
                            : FromHalf(bits & 0xffffU);
}

template <typename T>
std::optional<double> LoadNumber(std::string_view content) {
  if (content.size() != sizeof(T)) {
    return std::nullopt;  // Not exactly one element.
  }
  T value{};
  std::memcpy(&value, content.data(), sizeof(T));
  return static_cast<double>(value);
}

std::optional<double> FromContent(std::int32_t dtype, std::string_view content) {
  switch (dtype) {
    case kFloat:
      return LoadNumber<float>(content);
    case kDouble:
      return LoadNumber<double>(content);
    case kInt32:
      return LoadNumber<std::int32_t>(content);
    case kInt64:
      return LoadNumber<std::int64_t>(content);
    case kBfloat16:
    case kHalf: {
      std::uint16_t bits = 0;
      if (content.size() != sizeof(bits)) {
        return std::nullopt;
      }
      std::memcpy(&bits, content.data(), sizeof(bits));
      return FromSixteenBits(dtype, bits);
    }
    default:
      return std::nullopt;
  }
}

/// The only value of a packed list.
template <typename Range>
std::optional<double> OnlyNumber(const Range& range) {
  auto at = range.begin();
  if (at == range.end()) {
    return std::nullopt;
  }
  const auto value = static_cast<double>(*at);
  return ++at == range.end() ? std::optional<double>(value) : std::nullopt;
}

/// The number of a typed value list, which writers pack or not as they like. Nullopt: no such
/// field.
std::optional<std::optional<double>> ListedNumber(protozero::pbf_reader& field) {
  switch (field.tag_and_type()) {
    case BytesField(kFloatVal):
      return OnlyNumber(field.get_packed_float());
    case FloatField(kFloatVal):
      return static_cast<double>(field.get_float());
    case BytesField(kDoubleVal):
      return OnlyNumber(field.get_packed_double());
    case DoubleField(kDoubleVal):
      return field.get_double();
    case BytesField(kIntVal):
    case BytesField(kHalfVal):
      return OnlyNumber(field.get_packed_int32());
    case VarintField(kIntVal):
    case VarintField(kHalfVal):
      return static_cast<double>(field.get_int32());
    case BytesField(kInt64Val):
      return OnlyNumber(field.get_packed_int64());
    case VarintField(kInt64Val):
      return static_cast<double>(field.get_int64());
    default:
      return std::nullopt;
  }
}

}  // namespace

TensorValue ReadTensor(std::string_view tensor_proto) {
  TensorValue out;
  std::int32_t dtype = 0;
  std::string_view content;
  protozero::pbf_reader field(tensor_proto.data(), tensor_proto.size());
  while (field.next()) {
    if (const auto listed = ListedNumber(field)) {
      out.number = *listed;
      continue;
    }
    switch (field.tag_and_type()) {
      case VarintField(kDtype):
        dtype = field.get_enum();
        break;
      case BytesField(kContent):
        content = TakeView(field);
        break;
      case BytesField(kStringVal):
        out.text = std::string(TakeView(field).substr(0, kTextBytesMax));
        break;
      default:
        field.skip();
    }
  }
  const bool is_half = dtype == kHalf || dtype == kBfloat16;
  if (is_half && out.number && *out.number >= 0 && *out.number <= 0xffff) {
    out.number = FromSixteenBits(dtype, static_cast<std::uint32_t>(*out.number));
  }
  if (!content.empty()) {
    out.number = FromContent(dtype, content);
  }
  return out;
}

}  // namespace whystop
