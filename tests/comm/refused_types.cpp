/// Calls of comm with types that must not compile (merganser_refused_test() in cmake/testing.cmake), and the same ones
/// with right types. Every case has types of its own, since the compiler refuses a template with the same arguments
/// once.
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "merganser/comm/questions.hpp"
#include "merganser/comm/transport.hpp"

namespace {

using namespace merganser::comm;

#ifdef MERGANSER_ACCEPTED
template <int number>
struct Record {
  double x;
  int id;
};
template <int number>
struct Word {
  std::uint32_t bits;
};
template <int number>
struct Aligned {
  double x;
};
using ForStream = StreamOptions;
using ForPlan = PlanOptions;
using Value = double;
using Count = std::int64_t;
using Real = double;
using Values = std::vector<double>;
using Bytes = std::vector<std::byte>;
using Marks = std::vector<std::uint8_t>;
using Counts = std::vector<std::size_t>;
using Owner = int (*)(const double&);
using GraphOf = Graph;
#else
template <int number>
struct Record {
  std::string text;  // has a pointer: bytes of it mean nothing on another rank
};
template <int number>
struct Word {
  std::uint16_t bits;
};
template <int number>
struct alignas(64) Aligned {
  double x;
};
using ForStream = PlanOptions;
using ForPlan = StreamOptions;
using Value = float;
using Count = std::uint64_t;
using Real = long double;
using Values = std::vector<float>;
using Bytes = std::vector<double>;
using Marks = std::vector<int>;
using Counts = std::vector<int>;
using Owner = std::string (*)(const double&);
using GraphOf = Pattern;
#endif

[[maybe_unused]] auto to_first = [](const auto&) { return 0; };

// Records that are no bytes.
// refused: records travel as bytes
[[maybe_unused]] void a(Mailbox& box, const Record<1>& record) { box.post(0, record); }
// refused: records travel as bytes
[[maybe_unused]] void b(Mailbox& box, std::span<const Record<2>> records) { box.post_all(0, records); }
// refused: records travel as bytes
[[maybe_unused]] void c(Mailbox& box) { (void)box.records<Record<3>>(0); }
// refused: records travel as bytes
[[maybe_unused]] void d(Transport& t, std::vector<Record<4>>& all) { (void)all_gather(t, all); }
// refused: records travel as bytes
[[maybe_unused]] void e(Transport& t, const Record<5>& mine) { (void)all_gather_value(t, mine); }
// refused: records travel as bytes
[[maybe_unused]] void f(Transport& t, std::vector<Record<6>>& all) { (void)broadcast_from_first(t, all); }
// refused: records travel as bytes
[[maybe_unused]] void g(Transport& t, std::vector<Record<7>>& all) { (void)gather_to_first(t, all); }
// refused: records travel as bytes
[[maybe_unused]] void h(Transport& t, std::vector<std::vector<Record<8>>>& to) { (void)all_to_all(t, to); }
// refused: records travel as bytes
[[maybe_unused]] void i(Transport& t, std::span<const Record<9>> all) { (void)send_to_owners(t, all, to_first); }

// Records that cannot be read where they have arrived.
// refused: records are read where they have arrived
[[maybe_unused]] void j(Mailbox& box) { (void)box.records<Aligned<1>>(0); }
// refused: records are read where they have arrived
[[maybe_unused]] void k(Transport& t, std::vector<Aligned<2>>& all) { (void)all_gather(t, all); }

// Words of a Segment have 4 or 8 bytes.
// refused: words of a Segment have 4 or 8 bytes
[[maybe_unused]] void l(Transport& t) { (void)t.segment<Word<1>>({}, 1); }
// refused: words of a Segment have 4 or 8 bytes
[[maybe_unused]] std::size_t m() { return sizeof(Segment<std::array<Word<2>, 1>>); }

// Arguments in the place of others.
// refused: convert
[[maybe_unused]] void o(Transport& t, const ForStream& options) { (void)t.stream({}, options); }
// refused: convert
[[maybe_unused]] void p(Transport& t, const ForPlan& options) { (void)t.plan({}, {}, options); }
// refused: convert
[[maybe_unused]] void q(Transport& t, const GraphOf& graph) { (void)t.mailbox(graph); }
// refused: no matching
[[maybe_unused]] void r(Transport& t, Values& values) { t.all_reduce(values, Op::sum); }
// refused: numbers are reduced as double or std::int64_t
[[maybe_unused]] void r2(Transport& t, Count count) { (void)t.all_reduce(count, Op::sum); }
// refused: numbers are reduced as double or std::int64_t
[[maybe_unused]] void r3(Transport& t, Real real) { (void)t.all_reduce(real, Op::max); }
// refused: convert
[[maybe_unused]] void s(Transport& t, Bytes& mine) { (void)t.all_gather(mine); }
// refused: no matching
[[maybe_unused]] void u(Mailbox& box, Marks& marks) { box.step(marks, marks); }
// refused: convert
[[maybe_unused]] void v(Stream& stream, Counts& counts) { stream.open(counts, counts); }
// refused: convert
[[maybe_unused]] void w(Plan& plan, const Bytes& local) { plan.pull(local, {}); }
// refused: convert
[[maybe_unused]] void x(Segment<double>& words, Value* got) { words.get(0, 0, 1, got); }
// refused: static_cast
[[maybe_unused]] void y(Transport& t, Owner owner) { (void)send_to_owners(t, std::span<const double>(), owner); }

}  // namespace
