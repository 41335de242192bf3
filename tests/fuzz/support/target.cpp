#include "tests/fuzz/support/target.hpp"

#include <cstdlib>
#include <functional>
#include <iostream>

#include "src/base/system_root.hpp"

namespace merganser::fuzz {

void prepare() { merganser::detail::system_root = "/nothing-is-told-here"; }

void finding(const std::string& what) {
  std::cerr << "finding: " << what << std::endl;
  std::abort();
}

bool is_selected(std::size_t n, std::string_view input) {
  return every_check || std::hash<std::string_view>()(input) % n == 0;
}

}  // namespace merganser::fuzz
