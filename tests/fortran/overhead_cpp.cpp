// The same finds through C++ and through C, for overhead.f90.
#include <cstdint>
#include <memory>

#include "merganser/base/timing.hpp"
#include "merganser/cluster/star_finder.hpp"
#include "merganser/comm/open.hpp"
#include "merganser/merganser.h"

using namespace merganser;

namespace {

/// A finder of each kind over one rank, made once: unit cube, walls.
struct Finders {
  std::unique_ptr<comm::Transport> transport = comm::open_alone();
  StarFinder in_cpp{*transport, Decomposition({{{0, 0, 0}, {1, 1, 1}, {false, false, false}}, {1, 1, 1}}, 1)};
  mg_transport* handle = nullptr;
  mg_decomposition* blocks = nullptr;
  mg_finder* in_c = nullptr;
  Finders() {
    const mg_box box = {sizeof box, {0, 0, 0}, {1, 1, 1}, {0, 0, 0}, 0};
    const std::int64_t cells[3] = {1, 1, 1};
    mg_open_alone(&handle);
    mg_decomposition_new(&box, cells, 1, nullptr, &blocks);
    mg_finder_new(handle, blocks, nullptr, &in_c);
  }
};

Finders& finders() {
  static Finders* const all = new Finders;  // ends with the process
  return *all;
}

template <class Find>
double seconds_once(const Find& find) {
  return time_repeats(
      {.timed = 1}, [](std::int64_t) {}, [&](std::int64_t) { find(); })[0];
}

}  // namespace

extern "C" double find_in_cpp(int n, const double* xyz, const std::uint8_t* small, const std::int64_t* ids) {
  const auto count = static_cast<std::size_t>(n);
  StarFinder& finder = finders().in_cpp;
  return seconds_once([&] { finder.find(PointView::rows(xyz, count), {small, count}, {ids, count}); });
}

extern "C" double find_in_c(int n, const double* xyz, const std::uint8_t* small, const std::int64_t* ids) {
  const mg_points points = {sizeof points, static_cast<std::size_t>(n), xyz, xyz + 1, xyz + 2, 3};
  mg_finder* const finder = finders().in_c;
  return seconds_once([&] { mg_finder_find(finder, &points, small, ids); });
}
