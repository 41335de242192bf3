// Tests of the conventions of the C interface (capi/library.h): statuses, error texts, handles, records.
#include "merganser/capi/library.h"

#include <gtest/gtest.h>

#include <new>
#include <string>
#include <thread>

#include "merganser/base/indexed_text.hpp"
#include "merganser/capi/detail/guard.hpp"
#include "merganser/capi/detail/handles.hpp"
#include "merganser/merganser.h"
#include "tests/capi/ranks.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;

TEST(Library, tells_its_version_and_that_of_the_interface) {
  EXPECT_EQ(mg_abi(), MG_ABI);
  EXPECT_EQ(std::string(mg_version()).find("0."), 0U);
}

TEST(Guard, turns_every_exception_into_a_status_and_a_text) {
  const auto status = [](const auto& thrown) { return capi::guard([&] { throw thrown; }); };
  EXPECT_EQ(status(VerificationError("v")), MG_VERIFICATION);
  EXPECT_STREQ(mg_error(), "v");
  EXPECT_EQ(status(UsageError("u")), MG_USAGE);
  EXPECT_EQ(status(InputError("i")), MG_INPUT);
  EXPECT_EQ(status(CommError("c")), MG_COMMUNICATION);
  EXPECT_STREQ(mg_error(), "c");
  EXPECT_EQ(status(std::bad_alloc()), MG_MEMORY);
  EXPECT_STREQ(mg_error(), "there is no memory");
  EXPECT_EQ(status(std::length_error("l")), MG_MEMORY);
  EXPECT_EQ(status(std::runtime_error("r")), MG_INTERNAL);
  EXPECT_STREQ(mg_error(), "r");
  EXPECT_EQ(status(7), MG_INTERNAL);
  EXPECT_STREQ(mg_error(), "an exception without a text");
  EXPECT_EQ(capi::guard([] {}), MG_OK);
}

TEST(Guard, cuts_a_text_that_is_longer_than_its_room) {
  EXPECT_EQ(capi::guard([] { throw UsageError(std::string(100'000, 'x')); }), MG_USAGE);
  EXPECT_EQ(std::string(mg_error()).size(), 4095U);
}

TEST(Guard, keeps_a_text_for_every_thread) {
  EXPECT_EQ(mg_transport_barrier(nullptr), MG_USAGE);
  const std::string here = mg_error();
  std::string there;
  std::thread([&] {
    there = mg_error();
    static_cast<void>(mg_schema_columns(nullptr, nullptr));
  }).join();
  EXPECT_EQ(there, "");
  EXPECT_EQ(mg_error(), here);
}

TEST(Guard, counts_positions_from_zero_or_one_where_the_text_has_them) {
  EXPECT_EQ(capi::guard([] {
              throw Indexed<InputError>(IndexedText("point ") + Index{0} + " of rank 0 is that of point " + Index{41});
            }),
            MG_INPUT);
  EXPECT_STREQ(mg_error(), "point 0 of rank 0 is that of point 41");
  EXPECT_STREQ(mg_error_from(0), "point 0 of rank 0 is that of point 41");
  EXPECT_STREQ(mg_error_from(1), "point 1 of rank 0 is that of point 42");
  EXPECT_EQ(capi::guard([] { throw UsageError("cells: 0"); }), MG_USAGE);
  EXPECT_STREQ(mg_error_from(1), "cells: 0");
}

TEST(Handles, that_are_null_can_be_freed) {
  EXPECT_OK(mg_schema_free(nullptr));
  EXPECT_OK(mg_transport_close(nullptr));
  EXPECT_OK(mg_decomposition_free(nullptr));
  EXPECT_OK(mg_finder_free(nullptr));
  EXPECT_OK(mg_clusterer_free(nullptr));
}

TEST(Handles, that_are_null_freed_or_of_another_kind_are_refused_with_a_text) {
  mg_schema* schema = nullptr;
  ASSERT_OK(mg_schema_new(&schema));
  EXPECT_EQ(mg_decomposition_free(reinterpret_cast<mg_decomposition*>(schema)), MG_USAGE);
  EXPECT_STREQ(mg_error(), "decomposition: the handle of another kind of object");
  EXPECT_OK(mg_schema_free(schema));
  EXPECT_EQ(mg_schema_free(schema), MG_USAGE);
  EXPECT_STREQ(mg_error(), "schema: a handle that was freed or never given; allowed: one that was given and not freed");
  size_t columns = 0;
  EXPECT_EQ(mg_schema_columns(schema, &columns), MG_USAGE);
  EXPECT_EQ(mg_schema_columns(nullptr, &columns), MG_USAGE);
  EXPECT_STREQ(mg_error(), "schema: a null handle; allowed: one that was given and not freed");
  int on_the_stack = 0;
  EXPECT_EQ(mg_schema_free(reinterpret_cast<mg_schema*>(&on_the_stack)), MG_USAGE);
}

TEST(Handles, are_never_given_twice) {
  mg_schema* first = nullptr;
  ASSERT_OK(mg_schema_new(&first));
  ASSERT_OK(mg_schema_free(first));
  for (int i = 0; i < 1000; ++i) {
    mg_schema* schema = nullptr;
    ASSERT_OK(mg_schema_new(&schema));
    ASSERT_NE(schema, first);
    ASSERT_OK(mg_schema_free(schema));
  }
  EXPECT_EQ(mg_schema_free(first), MG_USAGE);
}

TEST(Handles, need_a_place) {
  EXPECT_EQ(mg_schema_new(nullptr), MG_USAGE);
  EXPECT_STREQ(mg_error(), "schema: no pointer for the handle");
}

struct LongerBox {  // that of a version to come
  mg_box box;
  double more;
};

TEST(Records, of_a_later_version_are_taken_if_what_is_new_is_zero) {
  LongerBox longer{};
  longer.box = {sizeof longer, {0, 0, 0}, {1, 1, 1}, {1, 1, 0}, 0};
  const int64_t cells[3] = {4, 4, 4};
  mg_decomposition* blocks = nullptr;
  EXPECT_OK(mg_decomposition_new(&longer.box, cells, 2, nullptr, &blocks));
  EXPECT_OK(mg_decomposition_free(blocks));
  longer.more = 1;
  EXPECT_EQ(mg_decomposition_new(&longer.box, cells, 2, nullptr, &blocks), MG_USAGE);
  EXPECT_STREQ(mg_error(), "box: a field is set that this version of the library does not know");
}

TEST(Records, without_a_size_are_refused) {
  mg_box box = {0, {0, 0, 0}, {1, 1, 1}, {1, 1, 0}, 0};
  const int64_t cells[3] = {4, 4, 4};
  mg_decomposition* blocks = nullptr;
  EXPECT_EQ(mg_decomposition_new(&box, cells, 2, nullptr, &blocks), MG_USAGE);
  EXPECT_EQ(std::string(mg_error()).find("box: struct_size 0; allowed: sizeof of the record"), 0U) << mg_error();
  box.struct_size = ~size_t{0};
  EXPECT_EQ(mg_decomposition_new(&box, cells, 2, nullptr, &blocks), MG_USAGE);
  EXPECT_EQ(blocks, nullptr);
}

TEST(Runs, end_with_the_status_and_the_text_of_the_rank_that_failed) {
  const int status = run_threads(4, [](mg_transport* t) {
    int rank = -1;
    EXPECT_OK(mg_transport_rank(t, &rank));
    if (rank == 2) return mg_transport_rank(t, nullptr);
    return mg_transport_barrier(t);  // released, since rank 2 never comes
  });
  EXPECT_EQ(status, MG_USAGE);
  EXPECT_STREQ(mg_error(), "rank: a null pointer; allowed: the address of one");
}

TEST(Runs, end_with_a_status_that_the_body_made_up) {
  EXPECT_EQ(run_threads(2, [](mg_transport*) { return 9; }), 9);
  EXPECT_STREQ(mg_error(), "the function that was run returned status 9");
}

TEST(Runs, leave_no_handle_behind_and_what_outlives_them_is_refused) {
  const std::size_t before = capi::num_handles();
  mg_announcer* kept[2] = {};
  mg_transport* old = nullptr;
  ASSERT_OK(run_threads(2, [&](mg_transport* t) {
    int rank = -1;
    if (const int status = mg_transport_rank(t, &rank)) return status;
    if (rank == 0) old = t;
    return mg_announcer_new(t, "torus", 2, nullptr, &kept[rank]);
  }));
  EXPECT_EQ(capi::num_handles(), before + 2);
  size_t none = 0;
  EXPECT_EQ(mg_announcer_step(kept[0], &none), MG_COMMUNICATION);
  EXPECT_STREQ(mg_error(), "transport: the run that it belonged to has ended");
  int rank = 0;
  EXPECT_EQ(mg_transport_rank(old, &rank), MG_USAGE);
  for (auto* announcer : kept) EXPECT_OK(mg_announcer_free(announcer));
  EXPECT_EQ(capi::num_handles(), before);
}

TEST(Runs, of_no_ranks_or_nothing_are_refused) {
  EXPECT_EQ(run_threads(0, [](mg_transport*) { return 0; }), MG_USAGE);
  EXPECT_EQ(mg_run_threads(1, nullptr, nullptr), MG_USAGE);
}

}  // namespace
