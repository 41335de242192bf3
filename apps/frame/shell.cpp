// Words of commands as a user types them.
#include "apps/frame/shell.hpp"

#include "merganser/base/log.hpp"

namespace merganser::app {

std::string quote_for_shell(const std::string& word) {
  if (!word.empty() && word.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                              "_-./=:,+@%^") == std::string::npos)
    return word;
  const bool printable = one_line(word) == word;
  std::string out = printable ? "'" : "$'";
  for (const char c : word) {
    const auto byte = static_cast<unsigned char>(c);
    if (printable) {
      out += c == '\'' ? "'\\''" : std::string(1, c);
    } else if (c == '\'' || c == '\\') {
      out += std::string("\\") + c;
    } else if (byte >= 0x20 && byte < 0x7f) {
      out += c;
    } else {
      out += '\\';
      for (const int shift : {6, 3, 0}) out += static_cast<char>('0' + ((byte >> shift) & 7));
    }
  }
  return out + "'";
}

}  // namespace merganser::app
