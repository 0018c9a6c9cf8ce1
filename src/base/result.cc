#include "base/result.h"

#include <cerrno>
#include <system_error>

namespace whystop {

Error SystemError(const std::string& what, int errno_value) {
  Error::Code code = Error::Code::kIo;
  if (errno_value == ENOENT || errno_value == ENOTDIR) {
    code = Error::Code::kNotFound;
  } else if (errno_value == EACCES || errno_value == EPERM || errno_value == EROFS) {
    code = Error::Code::kNoPermission;
  } else if (errno_value == ENOSPC || errno_value == EDQUOT) {
    code = Error::Code::kNoSpace;
  }
  return {code, what + ": " + std::generic_category().message(errno_value), ""};
}

}  // namespace whystop
