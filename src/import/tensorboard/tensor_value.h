#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace whystop {

/// What a serialized TensorProto holds, as far as we care: one number or one text.
struct TensorValue {
  std::optional<double> number;
  std::optional<std::string> text;  // Bounded.
};

/// Reads a TensorProto of one element, whether it is stored as raw `tensor_content` or as a typed
/// value list. Throws protozero::exception on bytes that are no protobuf message; the caller
/// catches.
TensorValue ReadTensor(std::string_view tensor_proto);

}  // namespace whystop
