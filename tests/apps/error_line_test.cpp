/// Tests that every kind of exception becomes one error line and the exit code of its kind.
#include "apps/frame/error_line.hpp"

#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <new>
#include <stdexcept>
#include <system_error>
#include <thread>

#include "apps/frame/command.hpp"
#include "apps/frame/launcher.hpp"
#include "merganser/base/error.hpp"

namespace {

using namespace merganser;

struct Told {
  int code;
  std::string line;
};

template <class E>
Told run_and_capture(const E& error) {
  testing::internal::CaptureStderr();
  const int code = app::run_to_exit_code([&]() -> int { throw error; });
  return {code, testing::internal::GetCapturedStderr()};
}

void expect(const Told& of, int code, const std::string& line) {
  EXPECT_EQ(of.code, code);
  EXPECT_EQ(of.line.substr(0, line.size()), line);
  EXPECT_EQ(std::count(of.line.begin(), of.line.end(), '\n'), 1) << of.line;
}

TEST(ErrorLineTest, errors_of_the_library_keep_their_code) {
  expect(run_and_capture(VerificationError("parcel 7 differs")), 1, "verification: parcel 7 differs\n");
  expect(run_and_capture(UsageError("--ranks 0; allowed: 1 and more")), 2, "usage: --ranks 0; allowed: 1 and more\n");
  expect(run_and_capture(InputError("a.nc: no such file")), 3, "input: a.nc: no such file\n");
  expect(run_and_capture(CommError("rank 2 is gone")), 4, "communication: rank 2 is gone\n");
}

TEST(ErrorLineTest, what_the_system_refuses_is_no_fault_of_the_program) {
  const auto full = std::make_error_code(std::errc::no_space_on_device);
  expect(run_and_capture(std::filesystem::filesystem_error("cannot copy", "a.nc", full)), 3, "input: ");
  const auto none = std::make_error_code(std::errc::resource_unavailable_try_again);
  expect(run_and_capture(std::system_error(none)), 4, "communication: ");
}

TEST(ErrorLineTest, anything_else_is_an_internal_error_even_in_two_lines) {
  expect(run_and_capture(std::bad_alloc()), app::kInternalError, "internal error: out of memory");
  expect(run_and_capture(std::runtime_error("a\nb")), app::kInternalError, "internal error: ");
}

TEST(ErrorLineTest, work_that_ends_well_says_nothing) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(app::run_to_exit_code([] { return 5; }), 5);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

/// Fixture in which standard error is a pipe, as in a rank that a launcher has started.
class OfALauncher : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(::pipe(ends_.data()), 0);
    before_ = ::dup(STDERR_FILENO);
    ::dup2(ends_[1], STDERR_FILENO);
    ::setenv("PMI_RANK", "0", 1);
    ::setenv("PMI_SIZE", "2", 1);
  }
  void TearDown() override {
    ::dup2(before_, STDERR_FILENO);
    for (const int file : {before_, ends_[0], ends_[1]}) ::close(file);
    ::unsetenv("PMI_RANK");
    ::unsetenv("PMI_SIZE");
  }
  [[nodiscard]] int unread() const {
    int left = -1;
    ::ioctl(ends_[0], FIONREAD, &left);
    return left;
  }
  std::array<int, 2> ends_{};
  int before_ = -1;
};

TEST_F(OfALauncher, a_line_has_been_read_when_the_rank_goes_on) {
  std::thread reader([this] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    std::array<char, 200> line{};
    EXPECT_GT(::read(ends_[0], line.data(), line.size()), 0);
  });
  app::print_error_line("no such file", 3);
  EXPECT_EQ(unread(), 0);
  reader.join();
}

TEST_F(OfALauncher, one_that_nobody_reads_is_not_waited_for_without_end) {
  app::print_error_line("no such file", 3);
  EXPECT_GT(unread(), 0);
}

}  // namespace
