#pragma once
/// Fourier transforms of fields along the rows of an array, eight columns at a time.
#include <memory>
#include <string>
#include <vector>

#include "merganser/flow/nodes.hpp"
#include "src/flow/fft/transform.hpp"

namespace merganser::flow::fft {

/// Array of doubles that begins at a cache line, for fields and tables of the flow's Fourier transforms and spectral solver.
using Field = std::vector<double, AlignedAllocator<double>>;

/// Read-only rows of doubles to be Fourier transformed: row j at begin + j * stride.
struct InRows {
  const double* begin;
  std::size_t stride;
};
/// Writable rows of doubles for the result of a Fourier transform: row j at begin + j * stride.
struct OutRows {
  double* begin;
  std::size_t stride;
};

/// Complex transform of half the length, h, by which real rows are transformed, and its scratch memory: even real rows
/// are its real parts, odd rows its imaginary parts.
struct Half {
  Transform& transform;  ///< complex transform of length h
  std::size_t h;         ///< half the number of real rows
  const Root* roots;     ///< exp(-2 pi i k / (2 h)), k = 0 .. h / 2
  Block block;           ///< scratch memory, which receives the rows to be transformed
  Block spare;           ///< further scratch memory; either block may hold the result
};

/// Fourier transforms of n real rows to and from the n / 2 + 1 complex rows that are not conjugates of others. The imaginary part
/// of a complex row stands `im` doubles after its real part. A column's bits do not depend on its neighbours.
class RealRows {
 public:
  /// Prepares Fourier transforms of n real rows, n even, >= 2. @throws UsageError for a library that this build lacks
  RealRows(const std::string& library, std::size_t n);
  /// Transforms real rows x_j to complex rows, the sums of x_j exp(-2 pi i j k / n), not scaled, for `groups` groups of kLanes
  /// columns.
  void forward(InRows in, OutRows out, std::size_t im, std::size_t groups);
  /// Transforms complex rows back to real ones: n times the inverse of forward(). The imaginary parts of rows 0 and n / 2 are not
  /// read.
  void inverse(InRows in, std::size_t im, OutRows out, std::size_t groups);
  /// Computes the derivative of the trigonometric polynomial through n equidistant rows with period `period`; the mode that
  /// alternates from row to row has derivative 0. `out` may be `in`.
  void derivative(InRows in, OutRows out, double period, std::size_t groups);

 private:
  Half half();

  std::unique_ptr<Transform> transform_;
  std::vector<Root> roots_;
  std::size_t half_;
  Field memory_;
};

/// Fourier transforms of n complex rows in place. A column's bits do not depend on its neighbours.
class ComplexRows {
 public:
  /// Prepares Fourier transforms of n complex rows, n >= 1. @throws UsageError for a library that this build lacks
  ComplexRows(const std::string& library, std::size_t n);
  /// Fourier transforms `groups` groups of kLanes columns of complex rows, not scaled. @param im  doubles from the real part of a
  /// row to its imaginary part
  void forward(OutRows rows, std::size_t im, std::size_t groups) { run(rows, rows.begin + im, groups); }
  /// Computes n times the inverse Fourier transform of complex rows. @param im  doubles from the real part of a row to its
  /// imaginary part
  void inverse(OutRows rows, std::size_t im, std::size_t groups) {
    run({rows.begin + im, rows.stride}, rows.begin, groups);
  }

 private:
  void run(OutRows re, double* im, std::size_t groups);

  std::unique_ptr<Transform> transform_;
  std::size_t n_;
  Field memory_;
};

}  // namespace merganser::flow::fft
