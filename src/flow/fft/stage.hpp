#pragma once
/// A stage of a transform, as lanes.cpp makes and runs it.
#include <cstddef>
#include <vector>

namespace merganser::flow::fft {

/// A root of unity.
struct Root {
  double re;
  double im;
};

/// exp(-2 pi i power / n), to the nearest double on every CPU.
Root root(std::size_t power, std::size_t n);

/// Makes transforms of radix * rest elements out of `radix` times fewer, each `stride` times side by side.
struct Stage {
  std::size_t radix;
  std::size_t rest;
  std::size_t stride;
  std::vector<Root> roots;        ///< exp(-2 pi i p r / (radix rest)), radix - 1 for each p
  std::vector<Root> small_roots;  ///< exp(-2 pi i r / radix), for radices above 5
};

}  // namespace merganser::flow::fft
