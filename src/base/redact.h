#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace whystop {

/// The arguments of a command with whatever may be a secret replaced by "***": by the name that it
/// stands under (`--db-pass=`, `-H "X-Api-Key: "`, `{"token": ""}`, `?sig=`), and by its shape (keys of
/// known providers, user and password in an address, long random text). Where in doubt it is hidden:
/// a value that is not shown costs little.
std::vector<std::string> RedactSecrets(std::vector<std::string> arguments);

/// The same for any text that is shown or exported: a log line, a message, the value of a variable.
/// Only what is marked as a secret in the text itself or has the shape of one.
std::string RedactText(std::string_view text);

/// Does the name of an option, variable, header or field say that its value is secret? "--max-tokens"
/// and "--tokenizer" do not.
bool NamesASecret(std::string_view name);

}  // namespace whystop
