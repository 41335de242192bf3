#pragma once
/// Keeping what lets others act as this user out of records, logs and messages.
#include <string>
#include <string_view>
#include <vector>

namespace merganser::app {

/// Whether a name of a variable or an option says that its value is a secret: one of its words (separated by -, _ or .) is
/// password, token, key, cookie and the like, in any case, or ends or begins with a long one of them.
[[nodiscard]] bool is_secret_name(std::string_view name);

/// A text with *** in place of the password in a URL (scheme://***@host), of what follows "NAME=" where the name says that it is
/// a secret, and of tokens that can be known by how they begin (JSON web tokens, those of code forges and clouds).
[[nodiscard]] std::string without_secrets(const std::string& text);

/// Hides secrets in the words of a command as without_secrets() does in a text, and also the value of an option such as --password,
/// in the same word or the next one, and what follows a header such as "Authorization:".
[[nodiscard]] std::vector<std::string> words_without_secrets(std::vector<std::string> words);

}  // namespace merganser::app
