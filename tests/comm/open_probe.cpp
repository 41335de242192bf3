/// Program with an MPI of its own that open_test starts: open_probe CASE [MODEL...]. It initialises and finalises MPI itself and
/// prints the result, with "wrong" in it after a failure. With PROBE_PLUGINS, which may be empty, it uses a plug-in from there.
#include <mpi.h>

#include <cstdlib>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "merganser/base/error.hpp"
#include "merganser/comm/collectives.hpp"
#include "merganser/comm/mpi.hpp"
#include "merganser/comm/open.hpp"
#include "merganser/comm/plugins.hpp"
#include "tests/comm/graphs.hpp"

namespace {

using namespace merganser;
using comm::Transport;
using Names = std::vector<std::string>;

int world_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}
int world_size() {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

void say(const std::string& text) { std::cout << text + "\n" << std::flush; }
void require(bool right, const std::string& what) {
  if (!right) say("wrong on rank " + std::to_string(world_rank()) + ": " + what);
}
int handle(MPI_Comm comm) {
#if defined(MPI_ABI_VERSION)
  return MPI_Comm_toint(comm);
#else
  return static_cast<int>(MPI_Comm_c2f(comm));
#endif
}

/// A sum by the caller's own collective, beside ours.
int own_sum(MPI_Comm comm, int value) {
  int sum = 0;
  MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comm);
  return sum;
}

/// What came before in a ring, by a mailbox that lives already.
void turn(comm::Mailbox& box, const Transport& t) {
  box.post(0, t.rank());
  box.step();
  require(box.records<int>(0)[0] == (t.rank() + t.size() - 1) % t.size(), "a message of a ring");
}

/// Something over each object.
void use(Transport& t) {
  const auto box = t.mailbox(test::ring(t));
  turn(*box, t);
  auto words = t.segment<std::uint64_t>(test::ring(t), 2);
  words.put((t.rank() + 1) % t.size(), 1, 7);
  words.sync();
  require(words.local()[1] == 7, "a word of a segment");
  const auto stream = t.stream(test::ring(t), {});
  const std::vector<std::size_t> five(1, 5);
  stream->open(five, five);
  for (std::size_t slot = 0; slot < 5; ++slot) stream->send(0, slot, 3);
  std::uint32_t sum = 0;
  while (stream->take([&](std::size_t, std::size_t, std::uint32_t value) { sum += value; }) > 0) stream->wait();
  stream->finish();
  require(sum == 15, "the records of a stream");
  const auto plan = t.plan(test::ring(t), {{{0, 1}}, {2}}, {});
  const std::vector<std::int64_t> local{t.rank(), 10};
  plan->pull(std::as_bytes(std::span(local)), [&](const comm::Plan::Chunk& chunk) {
    std::int64_t first = 0;
    std::memcpy(&first, chunk.data.data(), sizeof first);
    require(first == (t.rank() + t.size() - 1) % t.size(), "a ghost of a plan");
  });
  require(t.all_reduce(1, comm::Op::sum) == t.size(), "a sum");
}

comm::OpenOptions named(const std::string& model) { return {.backend = model, .decorators = {}, .pattern = {}}; }

void whole(const Names& models) {
  for (const auto& model : models) {
    MPI_Comm mine = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &mine);
    const auto t = comm::open(mine, named(model));
    MPI_Comm_free(&mine);  // the transport has its own
    require(t->name() == model && t->size() == world_size() && t->rank() == world_rank(), "who is where");
    use(*t);
    use(*t);
    if (t->rank() == 0) say("used " + model + " on " + std::to_string(t->size()));
  }
}

/// What parts of the ranks cannot do by themselves.
void start_over_all(const Names& models) {
  for (const auto& model : models)
    if (model == "shmem") (void)comm::open(MPI_COMM_WORLD, named(model));
}

/// Even ranks use a transport of theirs, odd ranks do sums of their own, then all together.
void half(const Names& models) {
  MPI_Comm mine = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, world_rank() % 2, -world_rank(), &mine);  // in the other order
  start_over_all(models);
  for (const auto& model : models) {
    if (world_rank() % 2 == 0) {
      const auto t = comm::open(handle(mine), named(model));
      use(*t);
      if (t->rank() == 0) say("used " + model + " on " + std::to_string(t->size()));
      require(t->subset(t->rank() == 0) == nullptr || t->rank() == 0, "a part of a half");
    } else {
      int size = 0;
      MPI_Comm_size(mine, &size);
      for (int i = 0; i < 100; ++i) require(own_sum(mine, i) == size * i, "a sum of the other half");
    }
  }
  require(own_sum(MPI_COMM_WORLD, 1) == world_size(), "a sum of all");
  MPI_Comm_free(&mine);
}

/// Transports of every model over the world at once, used in turns, with messages of the caller's between.
void together(const Names& models) {
  std::vector<std::unique_ptr<Transport>> all;
  std::vector<std::unique_ptr<comm::Mailbox>> boxes;
  for (int twice = 0; twice < 2; ++twice)
    for (const auto& model : models) {
      all.push_back(comm::open(MPI_COMM_WORLD, named(model)));
      boxes.push_back(all.back()->mailbox(test::ring(*all.back())));
    }
  for (int i = 0; i < 20; ++i) {
    const int to = (world_rank() + 1) % world_size();
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Isend(&i, 1, MPI_INT, to, 1, MPI_COMM_WORLD, &request);
    for (std::size_t k = 0; k < all.size(); ++k) turn(*boxes[k], *all[k]);
    int came = -1;
    MPI_Recv(&came, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    require(came == i, "a message of the caller's");
  }
  for (const auto& t : all) use(*t);
  if (world_rank() == 0) say("used " + std::to_string(all.size()) + " together");
}

MPI_Comm ranks_from(int first, int count) {
  std::vector<int> ranks;
  for (int i = 0; i < count; ++i) ranks.push_back(first + i);
  MPI_Group world = MPI_GROUP_NULL;
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, count, ranks.data(), &group);
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_create(MPI_COMM_WORLD, group, &comm);
  MPI_Group_free(&group);
  MPI_Group_free(&world);
  return comm;
}

/// {0, 1, 2} and {1, 2, 3}: collective calls in one order, waves as they come.
void overlapping(const Names& models) {
  MPI_Comm low = ranks_from(0, world_size() - 1);
  MPI_Comm high = ranks_from(1, world_size() - 1);
  start_over_all(models);
  for (const auto& model : models) {
    const auto a = low != MPI_COMM_NULL ? comm::open(low, named(model)) : nullptr;
    const auto b = high != MPI_COMM_NULL ? comm::open(high, named(model)) : nullptr;
    const auto box_a = a ? a->mailbox(test::complete(*a)) : nullptr;
    const auto box_b = b ? b->mailbox(test::complete(*b)) : nullptr;
    for (int i = 0; i < 20; ++i) {
      if (a) box_a->step();
      if (b) box_b->step();
    }
    if (a) use(*a);
    if (b) use(*b);
    if (b && b->rank() == 0) say("used " + model + " twice");
  }
  for (MPI_Comm* comm : {&low, &high})
    if (*comm != MPI_COMM_NULL) MPI_Comm_free(comm);
}

/// The text of the UsageError of an open().
std::string refusal(const std::function<void()>& action) {
  try {
    action();
  } catch (const UsageError& e) {
    return e.what();
  } catch (const std::exception& e) {
    return std::string("another error: ") + e.what();
  }
  return "nothing was thrown";
}

void require_refusal(MPI_Comm comm, const comm::OpenOptions& options, const std::string& part) {
  const std::string text = refusal([&] { (void)comm::open(comm, options); });
  require(text.find(part) != std::string::npos, "\"" + text + "\" does not say \"" + part + "\"");
}

void refusals(const Names&) {
  require_refusal(MPI_COMM_NULL, {}, "MPI_COMM_NULL or no communicator");
  const std::string text = refusal([] { (void)comm::open(123456); });
  require(text.find("handle 123456 is MPI_COMM_NULL or no communicator") != std::string::npos, text);
  MPI_Comm part = MPI_COMM_NULL;
  MPI_Comm between = MPI_COMM_NULL;
  const int side = world_rank() == 0 ? 0 : 1;
  MPI_Comm_split(MPI_COMM_WORLD, side, 0, &part);
  MPI_Intercomm_create(part, 0, MPI_COMM_WORLD, 1 - side, 5, &between);
  require_refusal(between, {}, "is an inter-communicator");
  require_refusal(MPI_COMM_WORLD, named("pigeons"), "unknown communication model 'pigeons'; known: auto threads");
  require_refusal(MPI_COMM_WORLD, named("threads"), "allowed: one rank");
  // What one rank alone gives, all refuse.
  require_refusal(MPI_COMM_WORLD, named(side == 0 ? "p2p" : "pigeons"), "unknown communication model 'pigeons'");
  require_refusal(MPI_COMM_WORLD, named(side == 0 ? "p2p" : "rma"), "open: backend is p2p on rank 0 and");
  comm::OpenOptions odd = named("p2p");
  odd.decorators = side == 0 ? "" : "gilded";
  require_refusal(MPI_COMM_WORLD, odd, "unknown decorator 'gilded'");
  if (comm::missing_backends().empty()) {
    require_refusal(part, named("shmem"), "before all 3 ranks have started OpenSHMEM; allowed: after a transport");
    MPI_Comm backwards = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -world_rank(), &backwards);
    for (MPI_Comm comm : {backwards, part}) use(*comm::open(comm, named("shmem")));
    MPI_Comm_free(&backwards);
  }
  use(*comm::open(MPI_COMM_WORLD, named("p2p")));  // all of it has done no harm
  MPI_Comm_free(&between);
  MPI_Comm_free(&part);
  if (world_rank() == 0) say("refused");
}

/// One rank alone is wrong in calls that make something; every rank hears of it, and the transport lives on.
void wrong_alone(const Names& models) {
  for (const auto& model : models) {
    const auto t = comm::open(MPI_COMM_WORLD, named(model));
    comm::Graph graph = test::ring(*t);
    if (t->rank() == 1) graph.out.push_back(99);
    int heard = 0;
    try {
      (void)t->mailbox(graph);
    } catch (const CommError& e) {
      heard += std::string(e.what()).find("rank 1: graph: out-neighbour 99") != std::string::npos ? 1 : 0;
    }
    try {
      agree(*t, [&] {
        if (t->rank() == 0) throw InputError("a bad file");
      });
    } catch (const InputError& e) {
      heard += e.what() == std::string("a bad file") ? 1 : 0;
    }
    require(heard == 2, "errors of one rank over " + model);
    use(*t);
    if (t->rank() == 0) say("heard over " + model);
  }
}

/// Errors unwind the scope of the transport on every rank, and the program goes on.
void unwind(const Names& models) {
  for (const auto& model : models) {
    try {
      const auto t = comm::open(MPI_COMM_WORLD, named(model));
      use(*t);
      const auto box = t->mailbox(test::ring(*t));
      throw InputError("enough");
    } catch (const InputError&) {
      if (world_rank() == 0) say("left " + model);
    }
  }
  require(own_sum(MPI_COMM_WORLD, 1) == world_size(), "a sum after errors");
}

/// One rank alone leaves by an error and ends the job, while the others wait.
void fail_on_one_rank(const Names& models) {
  try {
    const auto t = comm::open(MPI_COMM_WORLD, named(models.at(0)));
    const auto box = t->mailbox(test::complete(*t));
    for (int wave = 0;; ++wave) {
      if (wave == 20 && t->rank() == 1) throw InputError("this rank alone has had enough");
      box->step();
    }
  } catch (const Error& e) {
    say(e.what());
    MPI_Abort(MPI_COMM_WORLD, e.exit_code());
  }
}

void handle_error(MPI_Comm*, int*, ...) { say("wrong: the caller's error handler was called"); }

/// What the caller has set on the communicator stays, and does not reach us.
void settings(const Names& models) {
  for (const auto& model : models) {
    MPI_Info info = MPI_INFO_NULL;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_assert_no_any_source", "true");
    MPI_Info_set(info, "mpi_assert_no_any_tag", "true");
    MPI_Comm mine = MPI_COMM_NULL;
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &mine);
    MPI_Info_free(&info);
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    MPI_Comm_create_errhandler(handle_error, &handler);
    MPI_Comm_set_errhandler(mine, handler);
    use(*comm::open(mine, named(model)));
    MPI_Errhandler after = MPI_ERRHANDLER_NULL;
    MPI_Comm_get_errhandler(mine, &after);
    require(after == handler, "the error handler of the communicator");
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &after);
    require(after == MPI_ERRORS_ARE_FATAL, "the error handler of the world");
    MPI_Errhandler_free(&handler);
    MPI_Comm_free(&mine);
  }
  int dims[2] = {0, 0};
  const int periodic[2] = {1, 0};
  MPI_Dims_create(world_size(), 2, dims);
  MPI_Comm grid = MPI_COMM_NULL;
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periodic, 1, &grid);
  for (const auto& model : models) use(*comm::open(grid, named(model)));
  MPI_Comm_free(&grid);
  if (world_rank() == 0) say("kept");
}

/// A Cartesian communicator tells its shape, another has none.
void cartesian(const Names&) {
  const int shape[] = {1, world_size(), 1};
  const int periodic[] = {1, 0, 1};
  MPI_Comm cart = MPI_COMM_NULL;
  MPI_Cart_create(MPI_COMM_WORLD, 3, shape, periodic, 0, &cart);
  const comm::Cartesian found = comm::cartesian(handle(cart));
  require(found.shape == std::vector<int>{1, world_size(), 1}, "the shape of a Cartesian communicator");
  require(found.periodic == std::vector<bool>{true, false, true}, "its periodic axes");
  const std::string text = refusal([] { (void)comm::cartesian(handle(MPI_COMM_WORLD)); });
  require(text.find("has no Cartesian topology") != std::string::npos, "the refusal of another: " + text);
  MPI_Comm_free(&cart);
}

/// "auto", over the world and over a half.
void measured(const Names&) {
  MPI_Comm mine = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, world_rank() % 2, 0, &mine);
  for (MPI_Comm comm : {MPI_COMM_WORLD, mine}) {
    const auto t = comm::open(comm);
    const std::string line(t->choice());
    if (t->size() == 1) {
      require(t->name() == "threads" && line.empty(), "one rank alone");
    } else {
      require(line.ends_with("picked " + std::string(t->name())), line);
      require((line.find("shmem") != std::string::npos) == comm::missing_backends().empty(), line);
      const auto part = t->capabilities().sub_transports ? t->subset(t->rank() == 0) : nullptr;
      if (part) require(part->choice() == line, "the choice of a part");
    }
    use(*t);
    if (world_rank() == 0) say(line);
  }
  const auto checked = comm::open(MPI_COMM_WORLD, {.backend = "p2p", .decorators = "checked,chaos:3", .pattern = {}});
  require(checked->capabilities().checked && checked->choice().empty(), "decorators");
  use(*checked);
  MPI_Comm_free(&mine);
}

std::vector<std::unique_ptr<comm::Mailbox>> kept;
std::vector<std::unique_ptr<Transport>> kept_transports;

/// Transports, parts of them and objects that live until the statics of the program are destroyed, after MPI.
void late(const Names& models) {
  for (const auto& model : models) {
    kept_transports.push_back(comm::open(MPI_COMM_WORLD, named(model)));
    Transport& t = *kept_transports.back();
    use(t);
    kept.push_back(t.mailbox(test::ring(t)));
    if (t.capabilities().sub_transports) kept_transports.push_back(t.subset(true));
  }
  if (world_rank() == 0) say("kept " + std::to_string(kept.size()));
}

/// run(), and objects that outlive everything, in a program that begins and ends MPI itself.
void inside(const Names& models) {
  for (const auto& model : models) {
    comm::RunOptions options;
    options.backend = model;
    comm::run(options, [&](Transport& t) {
      use(t);
      kept.push_back(t.mailbox(test::ring(t)));
    });
    comm::Session session(options);
    use(session.transport());
    const auto t = comm::open(MPI_COMM_WORLD, named(model));
    kept.push_back(t->mailbox(test::ring(*t)));
    if (world_rank() == 0) say("ran " + model);
  }
}

const std::map<std::string, void (*)(const Names&)> kCases{
    {"whole", whole},       {"half", half},
    {"together", together}, {"overlapping", overlapping},
    {"refusals", refusals}, {"wrong-alone", wrong_alone},
    {"unwind", unwind},     {"fail-on-one-rank", fail_on_one_rank},
    {"settings", settings}, {"cartesian", cartesian},
    {"measured", measured}, {"inside", inside},
    {"late", late}};

/// Without MPI_Init here: the library begins and ends MPI.
int session(const Names& models) {
  for (const auto& model : models) {
    comm::RunOptions options;
    options.backend = model;
    comm::Session session(options);
    use(session.transport());
    if (session.transport().rank() == 0)
      say("session of " + std::string(session.transport().name()) + " on " +
          std::to_string(session.transport().size()));
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string name = argc > 1 ? argv[1] : "";
  const Names models(argv + 2, argv + argc);
  if (name == "session") return session(models);
  if (std::getenv("PROBE_PLUGINS") != nullptr) {
    say(refusal([] { (void)comm::open(MPI_COMM_WORLD); }));
    const comm::MpiInUse& mpi = comm::use_mpi(std::getenv("PROBE_PLUGINS"));
    say("plug-in " + mpi.plugin + ", compiled with " + mpi.compiled + ", for " + mpi.library.version);
  }
  say(refusal([] { (void)comm::open(MPI_COMM_WORLD); }));
  const std::map<std::string, int> levels{{"", MPI_THREAD_FUNNELED},
                                          {"single", MPI_THREAD_SINGLE},
                                          {"serialized", MPI_THREAD_SERIALIZED},
                                          {"multiple", MPI_THREAD_MULTIPLE}};
  const char* level = std::getenv("PROBE_THREADS");
  int provided = 0;
  MPI_Init_thread(&argc, &argv, levels.at(level != nullptr ? level : ""), &provided);
  try {
    kCases.at(name)(models);
  } catch (const std::exception& e) {
    say(std::string("wrong: ") + e.what());
    MPI_Abort(MPI_COMM_WORLD, 9);
  }
  const bool first = world_rank() == 0;
  const int result = MPI_Finalize();
  if (first) say(refusal([] { (void)comm::open(MPI_COMM_WORLD); }));
  if (first) say("finalized with " + std::to_string(result));
  return 0;
}
