#pragma once
/// Fourier transforms of fields: the rows of an array are transformed into each other, eight columns at a time.
#include <memory>
#include <string>
#include <vector>

#include "merganser/flow/nodes.hpp"
#include "src/flow/fft/transform.hpp"

namespace merganser::flow::fft {

/// Memory for fields.
using Field = std::vector<double, CacheLines<double>>;

/// Rows of doubles in memory: row j at begin + j * stride.
struct InRows {
  const double* begin;
  std::size_t stride;
};
struct OutRows {
  double* begin;
  std::size_t stride;
};

/// A transform of half the length, h, and memory for it: even rows are its real, odd rows its imaginary parts.
struct Half {
  Transform& transform;
  std::size_t h;
  const Root* roots;
  Block block;
  Block spare;
};

/// Transforms of n real rows to and from the n / 2 + 1 complex ones that are no conjugates of others. The imaginary part of
/// a complex row stands `im` doubles after its real part. A column's bits do not depend on its neighbours.
class RealRows {
 public:
  /// n even, >= 2. @throws UsageError for a library that is not there
  RealRows(const std::string& library, std::size_t n);
  /// Sums of x_j exp(-2 pi i j k / n), not scaled, of `groups` groups of kLanes columns.
  void forward(InRows in, OutRows out, std::size_t im, std::size_t groups);
  /// The inverse, times n. The imaginary parts of rows 0 and n / 2 are not read.
  void inverse(InRows in, std::size_t im, OutRows out, std::size_t groups);
  /// The derivative of the trigonometric polynomial through n rows that are a period of `period` apart in all; what
  /// alternates from row to row has none. `out` may be `in`.
  void derivative(InRows in, OutRows out, double period, std::size_t groups);

 private:
  Half half();

  std::unique_ptr<Transform> transform_;
  std::vector<Root> roots_;
  std::size_t half_;
  Field memory_;
};

/// Transforms of n complex rows in place.
class ComplexRows {
 public:
  /// n >= 1. @throws UsageError for a library that is not there
  ComplexRows(const std::string& library, std::size_t n);
  /// Not scaled. @param im  from the real part of a row to its imaginary part
  void forward(OutRows rows, std::size_t im, std::size_t groups) { run(rows, rows.begin + im, groups); }
  /// Times n.
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
