// File of a prediction model: a head, arrays of numbers, and a hash of all bytes before it.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "merganser/base/error.hpp"
#include "merganser/base/random.hpp"
#include "src/msf/linkage/prediction_state.hpp"

namespace merganser::msf {
namespace {

constexpr char kMagic[8] = {'M', 'G', 'P', 'R', 'E', 'D', '1', '\n'};
constexpr std::uint64_t kByteOrder = 0x0102030405060708;  // reads differently in another byte order

/// Throws the error of a file that is no prediction model. @throws InputError
[[noreturn]] void refuse(const std::string& what) { throw InputError("prediction model: " + what); }

/// Returns a hash of bytes, whose number is a multiple of 8.
std::uint64_t hash_words(const char* bytes, std::size_t count) {
  std::uint64_t hash = count;
  for (std::size_t i = 0; i + 8 <= count; i += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes + i, 8);
    hash = mix64(hash ^ word);
  }
  return hash;
}

/// Bytes of a file that is being made; every array begins at a multiple of 8.
class Writer {
 public:
  void number(std::uint64_t x) { raw(&x, sizeof x); }
  void number(double x) { raw(&x, sizeof x); }
  template <class T>
  void array(const std::vector<T>& numbers) {
    number(std::uint64_t{numbers.size()});
    raw(numbers.data(), numbers.size() * sizeof(T));
    bytes_.resize((bytes_.size() + 7) / 8 * 8);
  }
  void raw(const void* data, std::size_t count) { bytes_.append(static_cast<const char*>(data), count); }
  [[nodiscard]] std::string finish() { return with_hash(std::move(bytes_)); }

 private:
  std::string bytes_;
};

/// Numbers of a file that is read; no length is trusted before the bytes are there.
class Reader {
 public:
  explicit Reader(const std::string& bytes) : bytes_(bytes), end_(bytes.size()) {
    if (end_ < 24 || std::memcmp(bytes.data(), kMagic, 8) != 0) refuse("no file of one; allowed: what write() made");
    at_ = 8;
    if (number() != kByteOrder) refuse("of another byte order; allowed: that of this machine");
    end_ -= 8;
    std::uint64_t hash = 0;
    std::memcpy(&hash, bytes.data() + end_, 8);
    if (bytes.size() % 8 != 0 || hash != hash_words(bytes.data(), end_))
      refuse("a damaged file; allowed: one as it was written");
  }
  std::uint64_t number() {
    std::uint64_t x = 0;
    std::memcpy(&x, take(8), 8);
    return x;
  }
  double real() {
    double x = 0;
    std::memcpy(&x, take(8), 8);
    return x;
  }
  template <class T>
  std::vector<T> array() {
    const std::uint64_t count = number();
    if (count > (end_ - at_) / sizeof(T)) refuse("a file that ends early; allowed: one as it was written");
    std::vector<T> numbers(static_cast<std::size_t>(count));
    if (count > 0)
      std::memcpy(numbers.data(), take((numbers.size() * sizeof(T) + 7) / 8 * 8), numbers.size() * sizeof(T));
    return numbers;
  }
  [[nodiscard]] bool ended() const { return at_ == end_; }

 private:
  const char* take(std::size_t count) {
    if (count > end_ - at_) refuse("a file that ends early; allowed: one as it was written");
    const char* const from = bytes_.data() + at_;
    at_ += count;
    return from;
  }
  const std::string& bytes_;
  std::size_t at_ = 0;
  std::size_t end_;
};

/// Throws unless a condition on the tables of a prediction model holds. @throws InputError
void check_tables(bool holds, const char* what) {
  if (!holds) refuse(what);
}

}  // namespace

std::string with_hash(std::string bytes) {
  bytes.resize(bytes.size() / 8 * 8);
  const std::uint64_t hash = hash_words(bytes.data(), bytes.size());
  bytes.append(reinterpret_cast<const char*>(&hash), sizeof hash);
  return bytes;
}

euclidean::PlaceMetric place_metric(const PointSpace& space) {
  const bool sphere = space.metric == Distance::great_circle;
  euclidean::PlaceMetric metric{sphere ? 3 : static_cast<std::size_t>(space.dimension),
                                euclidean::to_norm(space.metric),
                                sphere,
                                euclidean::to_divisor(space),
                                {}};
  metric.periods.assign(metric.axes, kInfinity);
  for (const Period& p : space.periods) metric.periods.at(static_cast<std::size_t>(p.axis)) = p.length;
  return metric;
}

namespace {

/// Validates canonical coordinates: what the search for joints relies on. @throws InputError
void check_places(const PredictionTables& t) {
  constexpr double kMaxCoordinate = 1e150;  // squares of greater ones, or their sum, would overflow
  const std::size_t axes = t.metric.axes;
  for (std::size_t i = 0; i < t.places.size(); ++i) {
    const double x = t.places[i];
    const double period = t.metric.periods[i % axes];
    check_tables(std::fabs(x) <= kMaxCoordinate && (period == kInfinity || (x >= 0 && x < period)),
                 "a coordinate out of range; allowed: within +-1e150, on periodic axes from 0 to below the period");
  }
  if (t.space.metric == Distance::hamming)
    for (const double x : t.places)
      check_tables(x == 0 || x == 1, "a coordinate that is no bit with Hamming distances; allowed: 0 and 1");
  const bool unit = t.metric.sphere || t.space.metric == Distance::cosine || t.space.metric == Distance::correlation;
  for (std::size_t i = 0; unit && i < t.places.size(); i += axes) {
    double square = 0;
    for (std::size_t a = 0; a < axes; ++a) square += t.places[i + a] * t.places[i + a];
    check_tables(std::fabs(square - 1) < 1e-9, "a point off the unit sphere; allowed: on it");
  }
}

}  // namespace

void check_tables(const PredictionTables& t) {
  const std::size_t n = t.cores.size();
  check_tables(t.places.size() == n * t.metric.axes && t.cluster_of.size() == n && t.lambda.size() == n,
               "tables of points of different lengths; allowed: one entry for each point");
  check_tables(n > 0 && t.min_samples >= 1 && t.min_samples <= n,
               "min_samples beyond the points; allowed: from 1 to their number");
  check_tables(!t.parent.empty() && t.birth.size() == t.parent.size(),
               "tables of clusters of different lengths; allowed: one entry for each cluster");
  check_places(t);
  for (const double core : t.cores) check_tables(core >= 0, "a core distance below 0, or none; allowed: 0 and more");
  for (const double lambda : t.lambda) check_tables(lambda >= 0, "a lambda below 0, or none; allowed: 0 and more");
  for (const double birth : t.birth)
    check_tables(birth >= 0, "a lambda of a birth below 0, or none; allowed: 0 and more");
  for (const auto c : t.cluster_of)
    check_tables(c < t.parent.size(), "a point of a cluster that is not there; allowed: the clusters");
  for (const auto c : t.selected)
    check_tables(c < t.parent.size(), "a selected cluster that is not there; allowed: the clusters");
  for (std::size_t c = 1; c < t.parent.size(); ++c)
    check_tables(t.parent[c] < c, "a parent of a higher number; allowed: a lower one");
}

std::string to_bytes(const PredictionTables& t) {
  Writer out;
  out.raw(kMagic, sizeof kMagic);
  out.number(kByteOrder);
  out.number(static_cast<std::uint64_t>(t.space.dimension));
  out.number(static_cast<std::uint64_t>(t.space.metric));
  out.number(static_cast<std::uint64_t>(t.space.angle));
  out.number(std::uint64_t{t.space.periods.size()});
  for (const Period& p : t.space.periods) {
    out.number(static_cast<std::uint64_t>(p.axis));
    out.number(p.lower);
    out.number(p.length);
  }
  out.number(t.min_samples);
  out.array(t.places);
  out.array(t.cores);
  out.array(t.cluster_of);
  out.array(t.lambda);
  out.array(t.parent);
  out.array(t.birth);
  out.array(t.selected);
  return out.finish();
}

PredictionTables from_bytes(const std::string& bytes) {
  Reader in(bytes);
  PredictionTables t;
  const std::uint64_t dimension = in.number();
  const std::uint64_t metric = in.number();
  const std::uint64_t angle = in.number();
  const std::uint64_t periods = in.number();
  check_tables(dimension >= 1 && dimension <= (1 << 16), "a dimension out of range; allowed: 1 to 65536");
  check_tables(metric <= static_cast<std::uint64_t>(Distance::hamming) && angle <= 1,
               "an unknown metric; allowed: those of distances()");
  t.space.dimension = static_cast<int>(dimension);
  t.space.metric = static_cast<Distance>(metric);
  t.space.angle = static_cast<Angle>(angle);
  check_tables(t.space.metric != Distance::great_circle || (dimension == 2 && periods == 0),
               "great-circle distances of another space; allowed: latitude and longitude");
  check_tables(metric <= static_cast<std::uint64_t>(Distance::great_circle) || periods == 0,
               "periodic axes with a metric that has none; allowed: with euclidean, manhattan and chebyshev");
  check_tables(t.space.metric != Distance::correlation || dimension > 1,
               "correlation distances of one axis; allowed: of two and more");
  check_tables(periods <= dimension, "more periods than axes; allowed: one for each");
  for (std::uint64_t i = 0; i < periods; ++i) {
    const std::uint64_t axis = in.number();
    const double lower = in.real();
    const double length = in.real();
    check_tables(axis < dimension && std::isfinite(lower) && length > 0 && std::isfinite(length),
                 "a period out of range; allowed: of one of the axes, above 0");
    t.space.periods.push_back({static_cast<int>(axis), lower, length});
  }
  t.metric = place_metric(t.space);
  t.min_samples = in.number();
  t.places = in.array<double>();
  t.cores = in.array<double>();
  t.cluster_of = in.array<std::uint32_t>();
  t.lambda = in.array<double>();
  t.parent = in.array<std::uint32_t>();
  t.birth = in.array<double>();
  t.selected = in.array<std::uint32_t>();
  check_tables(in.ended(), "more bytes than its tables; allowed: a file as it was written");
  check_tables(t);
  return t;
}

}  // namespace merganser::msf
