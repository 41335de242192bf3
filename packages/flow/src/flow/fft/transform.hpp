#pragma once
/// Complex Fourier transforms, eight at a time; what those of this module are made of.
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace merganser::flow::fft {

/// Transforms that run side by side.
inline constexpr std::size_t kLanes = 8;

/// Length rounded up to whole groups of lanes.
inline constexpr std::size_t padded(std::size_t n) { return (n + kLanes - 1) / kLanes * kLanes; }

/// Real and imaginary parts of kLanes columns: element j of column t at [j * kLanes + t]. Begins at a cache line.
struct Block {
  double* re;
  double* im;
};

/// Transforms of one length. A column's result has the same bits whatever its neighbours hold.
class Transform {
 public:
  virtual ~Transform() = default;
  /// X_k = sum over j of x_j exp(-2 pi i j k / n), not scaled; with re and im exchanged on both sides: its inverse, times n.
  /// Both blocks are overwritten. @return where the result is: `block` or `spare`
  virtual Block run(Block block, Block spare) = 0;
};

/// Names of the libraries in this build, best first.
std::vector<std::string> libraries();

/// A transform of n >= 1 elements. `library`: a name of libraries() or "auto", the first of them.
/// @throws UsageError for another name
std::unique_ptr<Transform> make_transform(const std::string& library, std::size_t n);

/// One of each library; null where this build does not have it.
std::unique_ptr<Transform> make_lanes(std::size_t n);
std::unique_ptr<Transform> make_kiss(std::size_t n);
std::unique_ptr<Transform> make_fftw(std::size_t n);
bool kiss_available();
bool fftw_available();

/// A root of unity.
struct Root {
  double re;
  double im;
};

/// exp(-2 pi i power / n), to the nearest double on every CPU.
Root root(std::size_t power, std::size_t n);

/// A stage of a transform, as lanes.cpp makes and runs it. Makes transforms of radix * rest elements out of `radix` times
/// fewer, each `stride` times side by side.
struct Stage {
  std::size_t radix;
  std::size_t rest;
  std::size_t stride;
  std::vector<Root> roots;        ///< exp(-2 pi i p r / (radix rest)), radix - 1 for each p
  std::vector<Root> small_roots;  ///< exp(-2 pi i r / radix), for radices above 5
};

}  // namespace merganser::flow::fft
