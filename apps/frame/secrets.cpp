// Masking of passwords, tokens and keys in texts and command lines, by names and by known forms of tokens.
#include "apps/frame/secrets.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace merganser::app {
namespace {

constexpr const char* kHidden = "***";

// Words of names whose values are secret. Those of kWithin are long enough to be matched within words, as in MYPASSWORD2; those of
// kWhole match whole words only.
constexpr std::array kWithin{"password", "passwd", "passphrase", "secret", "token", "cookie", "credential", "authoriz"};
constexpr std::array kWhole{"pass", "pw",    "pwd",  "key", "keys",   "apikey",
                            "cred", "creds", "auth", "jwt", "bearer", "sig"};
/// Known form of a secret token: its prefix, and the least number of characters that follow.
struct TokenForm {
  std::string_view begin;
  std::size_t more;
};
constexpr std::array kTokens{TokenForm{"eyJ", 20},    TokenForm{"ghp_", 20},       TokenForm{"gho_", 20},
                             TokenForm{"ghu_", 20},   TokenForm{"ghs_", 20},       TokenForm{"ghr_", 20},
                             TokenForm{"AKIA", 12},   TokenForm{"ASIA", 12},       TokenForm{"sk-", 16},
                             TokenForm{"glpat-", 16}, TokenForm{"xoxb-", 10},      TokenForm{"xoxp-", 10},
                             TokenForm{"hf_", 20},    TokenForm{"github_pat_", 20}};

/// Return true for characters of words, of names of variables and options, of tokens, and for those that end a value.
bool is_letter_or_digit(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }
bool is_name_character(char c) { return is_letter_or_digit(c) || c == '_' || c == '-' || c == '.'; }
bool is_token_character(char c) { return is_name_character(c) || c == '/' || c == '+'; }
bool is_value_end(char c) {
  return std::isspace(static_cast<unsigned char>(c)) != 0 || c == '"' || c == '\'' || c == '&';
}

std::string to_lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

/// Masks user and password, or token, of the URLs in a text: the characters between "scheme://" and the last '@' before the path.
void hide_users(std::string& text) {
  for (std::size_t at = 0; (at = text.find("://", at)) != std::string::npos;) {
    at += 3;
    std::size_t end = at;
    while (end < text.size() && text[end] != '/' && !is_value_end(text[end])) ++end;
    const std::size_t host = text.rfind('@', end == at ? at : end - 1);
    if (host == std::string::npos || host < at || host >= end) continue;
    text.replace(at, host - at, kHidden);
  }
}

/// Masks VALUE of NAME=VALUE anywhere in a text, if NAME is that of a secret (is_secret_name()).
void hide_values(std::string& text) {
  for (std::size_t at = 0; (at = text.find('=', at)) != std::string::npos; ++at) {
    std::size_t begin = at;
    while (begin > 0 && is_name_character(text[begin - 1])) --begin;
    if (!is_secret_name(std::string_view(text).substr(begin, at - begin))) continue;
    std::size_t end = at + 1;
    if (end < text.size() && (text[end] == '"' || text[end] == '\'')) ++end;
    const std::size_t from = end;
    while (end < text.size() && !is_value_end(text[end])) ++end;
    while (end > from && (text[end - 1] == ';' || text[end - 1] == ',')) --end;  // of the sentence
    text.replace(from, end - from, kHidden);
  }
}

/// Masks secret tokens of known forms that begin a word of a text.
void hide_tokens(std::string& text) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (at > 0 && is_letter_or_digit(text[at - 1])) continue;
    for (const auto& token : kTokens) {
      if (text.compare(at, token.begin.size(), token.begin) != 0) continue;
      std::size_t end = at + token.begin.size();
      while (end < text.size() && is_token_character(text[end])) ++end;
      if (end - at < token.begin.size() + token.more) continue;
      text.replace(at, end - at, kHidden);
      break;
    }
  }
}

}  // namespace

// Rule by which variables and options are masked: whole words, or long words within others.
bool is_secret_name(std::string_view name) {
  const std::string all = to_lower(name);
  if (std::any_of(kWithin.begin(), kWithin.end(), [&](const char* w) { return all.find(w) != std::string::npos; }))
    return true;
  for (std::size_t begin = 0; begin < all.size();) {
    std::size_t end = begin;
    while (end < all.size() && is_letter_or_digit(all[end])) ++end;
    const std::string word = all.substr(begin, end - begin);
    if (std::find(kWhole.begin(), kWhole.end(), word) != kWhole.end()) return true;
    begin = end + 1;
  }
  return false;
}

std::string without_secrets(const std::string& text) {
  std::string out = text;
  hide_users(out);
  hide_values(out);
  hide_tokens(out);
  return out;
}

// Masking of a command line, in which a secret may be the word after its option.
std::vector<std::string> words_without_secrets(std::vector<std::string> words) {
  bool follows = false;  // this word is the value of the secret option before it
  for (auto& word : words) {
    const bool option = word.size() > 1 && word[0] == '-';
    if (follows && !option) {
      word = kHidden;
      follows = false;
      continue;
    }
    const auto colon = word.find(':');
    const auto equals = word.find('=');
    const bool heading = colon != std::string::npos && colon < equals && word.find_first_of("/\\ ") >= colon;
    follows = option && equals == std::string::npos && !heading && is_secret_name(word);
    if (heading && is_secret_name(std::string_view(word).substr(0, colon))) {
      word = word.substr(0, colon + 1) + kHidden;
    } else if (equals != std::string::npos && is_secret_name(std::string_view(word).substr(0, equals))) {
      word = word.substr(0, equals + 1) + kHidden;
    } else {
      word = without_secrets(word);
    }
  }
  return words;
}

}  // namespace merganser::app
