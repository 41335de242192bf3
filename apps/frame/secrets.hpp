#pragma once
/// Masking of passwords, tokens and keys in records, logs and messages.
#include <string>
#include <string_view>
#include <vector>

namespace merganser::app {

/// Returns true if the name of a variable or an option says that its value is secret: one of its words is password, token, key,
/// cookie or the like, in any case, or holds one of the longer of these.
[[nodiscard]] bool is_secret_name(std::string_view name);

/// Masks the secrets in a text: returns it with *** in place of user and password in URLs (scheme://***@host), of values that
/// follow "NAME=" if is_secret_name(NAME), and of tokens with a known prefix (JSON web tokens, those of code forges and clouds).
[[nodiscard]] std::string without_secrets(const std::string& text);

/// Returns the words of a command with secrets masked: as without_secrets() does in each, and also the value of an option such as
/// --password, in the same word or the next one, and the value of a header such as "Authorization:".
[[nodiscard]] std::vector<std::string> words_without_secrets(std::vector<std::string> words);

}  // namespace merganser::app
