/// A small program that launch_test starts in good and bad surroundings: probe CASE MODEL...
#include <csignal>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "comm/graphs.hpp"
#include "merganser/base/error.hpp"
#include "merganser/comm/runtime.hpp"

namespace {

using namespace merganser;
using comm::Transport;

/// Something over each object.
void use(Transport& t) {
  const auto box = t.mailbox(test::ring(t));
  box->post(0, t.rank());
  box->step();
  const int before = box->records<int>(0)[0];
  auto words = t.segment<std::uint64_t>(test::ring(t), 2);
  words.put((t.rank() + 1) % t.size(), 1, 7);
  words.sync();
  const bool right = before == (t.rank() + t.size() - 1) % t.size() && words.local()[1] == 7;
  if (t.all_reduce(right ? 1 : 0, comm::Op::min) != 1) throw CommError("wrong answers over " + std::string(t.name()));
  if (t.rank() == 0) std::cout << "visited " << t.name() << " on " << t.size() << std::endl;
}

/// More memory than any test gives a rank.
void want_much(Transport& t) { (void)t.segment<std::uint64_t>(test::ring(t), std::size_t{1} << 33); }

/// Waves without end, until `rank_one` happens on rank 1.
void wave_until(Transport& t, const std::function<void()>& rank_one) {
  const auto box = t.mailbox(test::complete(t));
  for (int wave = 0;; ++wave) {
    if (wave == 100 && t.rank() == 1) rank_one();
    box->step();
  }
}

void be_killed(Transport& t) {
  wave_until(t, [] { (void)std::raise(SIGKILL); });
}

void fail_alone(Transport& t) {
  wave_until(t, [] { throw InputError("this rank alone has had enough"); });
}

/// What `auto` picked must run, on every rank the same.
void be_picked(Transport& t) {
  const std::string line = comm::last_choice();
  const std::string end = "picked " + std::string(t.name());
  if (!line.ends_with(end)) throw CommError("'" + line + "' does not end with '" + end + "'");
  for (const auto& theirs : t.all_gather(std::as_bytes(std::span(t.name())))) {
    if (theirs.size() != t.name().size()) throw CommError("ranks run different models");
  }
  if (t.rank() == 0) std::cout << line << std::endl;
}

const std::map<std::string, void (*)(Transport&)> kCases{{"use", use},
                                                         {"want-much", want_much},
                                                         {"be-killed", be_killed},
                                                         {"fail-alone", fail_alone},
                                                         {"be-picked", be_picked}};

void tell(const std::exception& e) { std::cerr << "probe: " + std::string(e.what()) + "\n"; }

}  // namespace

int main(int argc, char** argv) {
  try {
    const auto body = kCases.at(argc > 1 ? argv[1] : "");
    for (int i = 2; i < argc; ++i) {
      comm::RunOptions options;
      options.backend = argv[i];
      comm::run(options, body);
    }
  } catch (const Error& e) {
    tell(e);
    comm::abort(e.exit_code());
  } catch (const std::exception& e) {
    tell(e);
    comm::abort(1);
  }
  return 0;
}
