#pragma once
/// Generators of random arguments for calls of the C interface: mostly valid, often invalid in every detectable way.
#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "merganser/base/random.hpp"
#include "merganser/capi/forest.h"
#include "merganser/merganser.h"

namespace merganser::test {

constexpr std::size_t kEntries = 24;  // of every array

/// A handle of each kind now and then; freed ones and those of other kinds come again.
template <class T>
struct Pool {
  std::vector<T*> all;
};

class RandomArguments {
 public:
  explicit RandomArguments(std::uint64_t seed) : random_(seed, 0x63616c6cULL, 0) {}

  bool one_in(std::uint64_t n) { return random_.below(n) == 0; }
  std::uint64_t below(std::uint64_t n) { return random_.below(n); }

  /// Mostly what is given, at times null.
  template <class T>
  T* or_null(T* pointer) {
    return one_in(12) ? nullptr : pointer;
  }
  /// An integer that is mostly small.
  template <class T = int>
  T integer(T most = 3) {
    switch (random_.below(14)) {
      case 0:
        return std::numeric_limits<T>::max();
      case 1:
        return std::numeric_limits<T>::min();
      case 2:
        return static_cast<T>(-1);
      case 3:
        return static_cast<T>(random_.bits());
      default:
        return static_cast<T>(random_.below(static_cast<std::uint64_t>(most) + 1));
    }
  }
  /// A number that is mostly in the unit interval.
  double number() {
    constexpr std::array<double, 9> kOdd{std::numeric_limits<double>::quiet_NaN(),
                                         std::numeric_limits<double>::infinity(),
                                         -std::numeric_limits<double>::infinity(),
                                         0,
                                         -0.0,
                                         1,
                                         -1,
                                         std::numeric_limits<double>::max(),
                                         std::numeric_limits<double>::denorm_min()};
    return one_in(4 * spoil_) ? kOdd[random_.below(kOdd.size())] : random_.uniform();
  }
  /// Lets the numbers of the next arrays be good, or some of them bad.
  void choose_spoil() { spoil_ = one_in(2) ? 1'000'000 : 8; }

  double* numbers(std::vector<double>& to, std::size_t n) {
    to.resize(n);
    for (double& x : to) x = number();
    return or_null(to.data());
  }
  /// Ids that are mostly distinct.
  template <class T>
  T* ids(std::vector<T>& to, std::size_t n) {
    to.resize(n);
    const bool spoiled = one_in(3);
    for (std::size_t i = 0; i < n; ++i)
      to[i] = spoiled && one_in(6) ? integer<T>(static_cast<T>(5)) : static_cast<T>(i);
    return or_null(to.data());
  }
  /// Entries in arrays of kEntries, or too many for any memory.
  std::size_t count() {
    return one_in(15) ? std::numeric_limits<std::size_t>::max() / (1 + random_.below(64)) : random_.below(kEntries + 1);
  }
  /// sizeof of a record, mostly.
  std::size_t size(std::size_t right) { return one_in(12) ? random_.below(right) : right; }
  /// A handle from the pool, freed or not, of another kind, or none.
  template <class T, class Other>
  T* handle(const Pool<T>& pool, const Pool<Other>& others) {
    if (one_in(14)) return nullptr;
    if (one_in(14) && !others.all.empty()) return reinterpret_cast<T*>(others.all[random_.below(others.all.size())]);
    if (one_in(30)) return reinterpret_cast<T*>(this);
    if (pool.all.empty()) return nullptr;
    // The newest three are most often alive.
    const std::size_t n = pool.all.size();
    return one_in(6) ? pool.all[random_.below(n)] : pool.all[n - 1 - random_.below(std::min<std::size_t>(n, 3))];
  }

 private:
  Random random_;
  std::uint64_t spoil_ = 8;
};

}  // namespace merganser::test
