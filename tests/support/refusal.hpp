#pragma once
/// What an action that must fail says.
#include <string>

#include "merganser/base/error.hpp"

namespace merganser::test {

/// Text of the error of type E that `action` throws; "another error: ..." of another type, "nothing was thrown".
template <class E = Error, class F>
std::string refusal(F&& action) {
  try {
    action();
  } catch (const E& e) {
    return e.what();
  } catch (const std::exception& e) {
    return std::string("another error: ") + e.what();
  }
  return "nothing was thrown";
}

}  // namespace merganser::test
