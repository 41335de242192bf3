/// Tests of what the models over MPI do with MPI's return codes and error handlers.
#include <gtest/gtest.h>
#include <mpi.h>

#include <array>
#include <string>

#include "merganser/base/error.hpp"
#include "merganser/comm/open.hpp"
#include "src/comm/backends/mpi/library.hpp"

namespace {

using merganser::CommError;
namespace comm = merganser::comm;

std::string text_of(int result) {
  try {
    comm::detail::check(result, "MPI_Example");
  } catch (const CommError& e) {
    return e.what();
  }
  return {};
}

TEST(MpiLibraryTest, a_return_code_is_an_error_with_the_name_of_the_call_and_the_text_of_mpi) {
  comm::detail::start_mpi();
  EXPECT_EQ(text_of(MPI_SUCCESS), "");
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  ASSERT_EQ(MPI_Error_string(MPI_ERR_TRUNCATE, text.data(), &length), MPI_SUCCESS);
  ASSERT_GT(length, 0);
  EXPECT_EQ(text_of(MPI_ERR_TRUNCATE), "MPI_Example: " + std::string(text.data(), static_cast<std::size_t>(length)));
}

void ignore(MPI_Comm*, int*, ...) {}

TEST(MpiLibraryTest, an_opened_communicator_leaves_error_handlers_as_they_were) {
  comm::detail::start_mpi();
  for (const MPI_Comm of : {MPI_COMM_WORLD, MPI_COMM_SELF}) {
    MPI_Errhandler before = MPI_ERRHANDLER_NULL;
    MPI_Errhandler ours = MPI_ERRHANDLER_NULL;
    MPI_Errhandler after = MPI_ERRHANDLER_NULL;
    ASSERT_EQ(MPI_Comm_get_errhandler(of, &before), MPI_SUCCESS);
    ASSERT_EQ(MPI_Comm_create_errhandler(ignore, &ours), MPI_SUCCESS);
    ASSERT_EQ(MPI_Comm_set_errhandler(of, ours), MPI_SUCCESS);
    { const auto transport = comm::open(static_cast<int>(MPI_Comm_c2f(MPI_COMM_WORLD)), {.backend = "p2p"}); }
    ASSERT_EQ(MPI_Comm_get_errhandler(of, &after), MPI_SUCCESS);
    EXPECT_TRUE(after == ours);
    MPI_Comm_set_errhandler(of, before);
    for (MPI_Errhandler* handler : {&before, &ours, &after}) MPI_Errhandler_free(handler);
  }
}

}  // namespace
