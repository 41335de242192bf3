#pragma once
/// Complex Fourier transforms of the flow model, eight at a time: the interface of the libraries, and the parts of our own.
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace merganser::flow::fft {

/// Number of Fourier transforms that run side by side, one per column of a block.
inline constexpr std::size_t kLanes = 8;

/// Returns n rounded up to a multiple of kLanes, the doubles of whole groups of columns.
inline constexpr std::size_t padded(std::size_t n) { return (n + kLanes - 1) / kLanes * kLanes; }

/// Real and imaginary parts of kLanes columns to be Fourier transformed: element j of column t at [j * kLanes + t], aligned to a
/// cache line.
struct Block {
  double* re;
  double* im;
};

/// Complex Fourier transform of one length, of kLanes columns at a time. A column's result has the same bits whatever its
/// neighbours hold.
class Transform {
 public:
  virtual ~Transform() = default;
  /// Computes X_k = sum over j of x_j exp(-2 pi i j k / n), not scaled; with re and im exchanged on both sides, n times the
  /// inverse. Both blocks are overwritten. @return the one with the result: `block` or `spare`
  virtual Block run(Block block, Block spare) = 0;
};

/// Returns the names of the Fourier transform libraries in this build, best first.
std::vector<std::string> libraries();

/// Creates a complex Fourier transform of n >= 1 elements. @param library  a name of libraries(), or "auto": the first of them
/// @throws UsageError for another name
std::unique_ptr<Transform> make_transform(const std::string& library, std::size_t n);

/// Create a complex Fourier transform of n elements by one library; null where this build lacks it.
std::unique_ptr<Transform> make_lanes(std::size_t n);
std::unique_ptr<Transform> make_kiss(std::size_t n);
std::unique_ptr<Transform> make_fftw(std::size_t n);
/// Return true if this build has the optional Fourier transform library.
bool kiss_available();
bool fftw_available();

/// Complex root of unity, a twiddle factor of Fourier transforms.
struct Root {
  double re;
  double im;
};

/// Returns exp(-2 pi i power / n), rounded to the nearest double on every CPU.
Root root(std::size_t power, std::size_t n);

/// One stage of the Stockham Fourier transform "lanes": combines `radix` transforms of `rest` elements each into one of radix *
/// rest, `stride` times side by side.
struct FftStage {
  std::size_t radix;
  std::size_t rest;
  std::size_t stride;
  std::vector<Root> roots;        ///< exp(-2 pi i p r / (radix rest)), radix - 1 for each p
  std::vector<Root> small_roots;  ///< exp(-2 pi i r / radix), for radices above 5
};

}  // namespace merganser::flow::fft
