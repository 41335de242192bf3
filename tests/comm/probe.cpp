/// Program that launch_test starts as a job, in good and bad environments: probe CASE MODEL...
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "merganser/base/error.hpp"
#include "merganser/comm/collectives.hpp"
#include "merganser/comm/runtime.hpp"
#include "tests/comm/graphs.hpp"

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

/// Objects that live until the statics of the program are destroyed, after the libraries have ended.
struct Kept {
  std::unique_ptr<comm::Mailbox> mailbox;
  std::unique_ptr<comm::Stream> stream;
  std::unique_ptr<comm::SegmentBody> segment;
  std::unique_ptr<Transport> part;
};
std::vector<Kept> kept;

void keep(Transport& t) {
  Kept one{t.mailbox(test::ring(t)), t.stream(test::ring(t), {}),
           t.segment_body(test::ring(t), 2, 8, comm::Epoch::lifetime), nullptr};
  if (t.capabilities().sub_transports) one.part = t.subset(true);
  one.mailbox->step();
  t.barrier();
  kept.push_back(std::move(one));
  if (t.rank() == 0) std::cout << "kept objects of " << t.name() << std::endl;
}

/// All ranks meet an error by themselves at about the same time; those of rank 1 and above follow from another.
void fail_all(Transport& t) {
  t.barrier();
  if (t.rank() == 0) throw CommError("rank 0 misses something");
  throw InputError("rank " + std::to_string(t.rank()) + " has read nonsense");
}

/// Rank 0 waits for the others, which never come.
void wait_in_vain(Transport& t, const std::function<void()>& wait) {
  if (t.rank() == 0) wait();
  std::this_thread::sleep_for(std::chrono::minutes(1));
}

void wait_stream(Transport& t) {
  const auto stream = t.stream(test::ring(t), {});
  const std::vector<std::size_t> none(1, 0);
  const std::vector<std::size_t> five(1, 5);
  wait_in_vain(t, [&] {
    stream->open(none, five);
    while (stream->take([](std::size_t, std::size_t, std::uint32_t) {}) > 0) stream->wait();
  });
}

void wait_barrier(Transport& t) {
  wait_in_vain(t, [&] { t.barrier(); });
}

void wait_making(Transport& t) {
  wait_in_vain(t, [&] { (void)t.mailbox(test::ring(t)); });
}

/// What `auto` picked must run, on every rank the same.
void be_picked(Transport& t) {
  const std::string line(t.choice());
  const std::string end = "picked " + std::string(t.name());
  if (!line.ends_with(end)) throw CommError("'" + line + "' does not end with '" + end + "'");
  for (const auto theirs : comm::all_gather(t, t.name())) {
    if (theirs.size() != t.name().size()) throw CommError("ranks run different models");
  }
  if (t.rank() == 0) std::cout << line << std::endl;
}

/// Runs the last model that works, as take_last() decides.
void be_last(Transport& t) {
  std::string_view last;
  for (const auto& backend : comm::backends())
    if (backend.processes) last = backend.name;
  if (t.name() != last) throw CommError("runs " + std::string(t.name()) + ", decided was " + std::string(last));
  be_picked(t);
}

/// A decision that names no model must be refused by all ranks.
void be_refused(Transport&) { throw CommError("a model runs that nobody has decided for"); }
comm::ModelChoice take_none(std::span<const comm::MeasuredModel> models) { return {models.size(), {}}; }
comm::ModelChoice take_first_and_none(std::span<const comm::MeasuredModel> models) { return {0, {models.size()}}; }
void be_refused_too(Transport& t) { be_refused(t); }

comm::ModelChoice take_last(std::span<const comm::MeasuredModel> models) {
  for (const auto& m : models)
    if (m.passes_ns.empty() || !(m.time_ns > 0)) throw CommError("no times of " + std::string(m.name));
  return {models.size() - 1, {0}};
}

const std::map<std::string, void (*)(Transport&)> kCases{{"use", use},
                                                         {"want-much", want_much},
                                                         {"be-killed", be_killed},
                                                         {"fail-alone", fail_alone},
                                                         {"fail-all", fail_all},
                                                         {"keep", keep},
                                                         {"wait-stream", wait_stream},
                                                         {"wait-barrier", wait_barrier},
                                                         {"wait-making", wait_making},
                                                         {"be-picked", be_picked},
                                                         {"be-last", be_last},
                                                         {"be-refused", be_refused},
                                                         {"be-refused-too", be_refused_too}};

void tell(const std::exception& e) { std::cerr << "probe: " + std::string(e.what()) + "\n"; }

}  // namespace

int main(int argc, char** argv) {
  try {
    const auto body = kCases.at(argc > 1 ? argv[1] : "");
    for (int i = 2; i < argc; ++i) {
      comm::RunOptions options;
      options.backend = argv[i];
      if (body == be_last) options.choose = take_last;
      if (body == be_refused) options.choose = take_none;
      if (body == be_refused_too) options.choose = take_first_and_none;
      comm::run(options, body);
    }
  } catch (const Error& e) {
    comm::end_job(e.exit_code(), [&] { tell(e); });
  } catch (const std::exception& e) {
    comm::end_job(1, [&] { tell(e); });
  }
  return 0;
}
