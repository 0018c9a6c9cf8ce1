#include "text/shape_signatures.h"

#include <deque>
#include <string>
#include <vector>

#include "text/line_shape.h"
#include "text/signature_matcher.h"

namespace whystop {
namespace {

/// The texts that the signatures require, with their digits as a shape has them.
class ShapeSignatures {
 public:
  ShapeSignatures() : rows_(Rows(texts_)), matcher_(rows_) {}
  const SignatureMatcher& matcher() const { return matcher_; }

 private:
  static std::vector<Signature> Rows(std::deque<std::string>& texts) {
    std::vector<Signature> rows;
    for (const Signature& row : AllSignatures()) {
      const bool whole = row.kind == Signature::Kind::kWholeLine;
      const std::string literal = whole ? std::string(row.pattern) : RequiredLiteral(row);
      std::string& shape = texts.emplace_back(literal.size() + kShapeSlackBytes, ' ');
      MakeShape(literal, shape.data());
      shape.resize(literal.size());
      Signature required = row;
      required.kind = whole ? Signature::Kind::kWholeLine : Signature::Kind::kLiteral;
      required.pattern = shape;
      rows.push_back(required);
    }
    return rows;
  }

  std::deque<std::string> texts_;
  std::vector<Signature> rows_;
  SignatureMatcher matcher_;
};

}  // namespace

bool ShapeMayHoldSignature(std::string_view shape) {
  static const ShapeSignatures signatures;
  return !signatures.matcher().MatchLine(shape).empty();
}

}  // namespace whystop
