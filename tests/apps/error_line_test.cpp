/// Every kind of exception becomes one line and its exit code.
#include "apps/frame/error_line.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <new>
#include <stdexcept>
#include <system_error>

#include "apps/frame/command.hpp"
#include "apps/frame/launcher.hpp"
#include "merganser/base/error.hpp"

/// The verbs belong to the program, not to the library that is tested here.
std::span<const merganser::app::Command* const> merganser::app::commands() { return {}; }

namespace {

using namespace merganser;

struct Told {
  int code;
  std::string line;
};

template <class E>
Told told(const E& error) {
  testing::internal::CaptureStderr();
  const int code = app::exit_code_of([&]() -> int { throw error; });
  return {code, testing::internal::GetCapturedStderr()};
}

void expect(const Told& of, int code, const std::string& line) {
  EXPECT_EQ(of.code, code);
  EXPECT_EQ(of.line.substr(0, line.size()), line);
  EXPECT_EQ(std::count(of.line.begin(), of.line.end(), '\n'), 1) << of.line;
}

TEST(ErrorLineTest, errors_of_the_library_keep_their_code) {
  expect(told(VerificationError("parcel 7 differs")), 1, "verification: parcel 7 differs\n");
  expect(told(UsageError("--ranks 0; allowed: 1 and more")), 2, "usage: --ranks 0; allowed: 1 and more\n");
  expect(told(InputError("a.nc: no such file")), 3, "input: a.nc: no such file\n");
  expect(told(CommError("rank 2 is gone")), 4, "communication: rank 2 is gone\n");
}

TEST(ErrorLineTest, what_the_system_refuses_is_no_fault_of_the_program) {
  const auto full = std::make_error_code(std::errc::no_space_on_device);
  expect(told(std::filesystem::filesystem_error("cannot copy", "a.nc", full)), 3, "input: ");
  const auto none = std::make_error_code(std::errc::resource_unavailable_try_again);
  expect(told(std::system_error(none)), 4, "communication: ");
}

TEST(ErrorLineTest, anything_else_is_an_internal_error_even_in_two_lines) {
  expect(told(std::bad_alloc()), app::kInternalError, "internal error: out of memory");
  expect(told(std::runtime_error("a\nb")), app::kInternalError, "internal error: ");
}

TEST(ErrorLineTest, work_that_ends_well_says_nothing) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(app::exit_code_of([] { return 5; }), 5);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
