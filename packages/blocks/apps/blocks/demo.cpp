// Runs the simulations of `announce demo` on every rank; rank 0 prints a table and writes record and picture.
#include "apps/blocks/demo.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iostream>

#include "apps/blocks/pictures.hpp"
#include "apps/frame/gather.hpp"
#include "apps/frame/picture.hpp"
#include "apps/frame/progress.hpp"
#include "apps/frame/table.hpp"
#include "merganser/base/text.hpp"
#include "merganser/base/timer.hpp"
#include "merganser/comm/collectives.hpp"

namespace merganser::app::demo {

using simulations::Droplet;
using simulations::format_digest;
using simulations::Plane;
using simulations::Potts;
using simulations::Site;
using simulations::WholeDroplet;

namespace {

/// Time loop of a block simulation on one rank: measures seconds and communication counters of its steps, without those that
/// --check adds.
class TimeLoop {
 public:
  TimeLoop(comm::Transport& transport, int steps)
      : transport_(transport), all_steps_(steps), line_(transport.rank() == 0) {}
  /// Calls f(), which makes one step of the block simulation, and measures its seconds and communication counters.
  template <class F>
  void step(F&& f) {
    const comm::Counters before = transport_.counters();
    const double start = now();
    f();
    seconds_ += now() - start;
    counters_ += transport_.counters() - before;
    ++steps_;
    line_.show_count("step", static_cast<double>(steps_), all_steps_);
  }
  /// Gathers the communication counters and the times of a step of all ranks, at the end of the simulation. Collective.
  void finish() {
    line_.erase();
    total_ = {};
    for (const auto& c : comm::all_gather_value(transport_, counters_)) total_ += c;
    std::vector<double> per_step;
    for (const double s : comm::all_gather_value(transport_, seconds_))
      per_step.push_back(s / static_cast<double>(steps_));
    times_ = summarise(per_step);
  }
  /// Returns the communication counters of all steps, summed over ranks by finish().
  [[nodiscard]] const comm::Counters& total() const { return total_; }
  /// Returns the seconds of a step, summarised over ranks by finish().
  [[nodiscard]] const Summary& times() const { return times_; }
  /// Formats a communication counter summed over ranks and steps as a mean per rank and step.
  [[nodiscard]] std::string per_step(std::int64_t n) const {
    const double steps = static_cast<double>(steps_) * transport_.size();
    return fixed_text(static_cast<double>(n) / steps, 1);
  }
  /// Adds the rows of messages, bytes, waves, collectives and time per step to the table of results.
  void add_rows(Table& table) const {
    table.row({"messages per step and rank", per_step(total_.messages)});
    table.row({"payload bytes per step and rank", per_step(total_.bytes)});
    if (total_.puts > 0) table.row({"puts per step and rank", per_step(total_.puts)});
    table.row({"waves per step and rank", per_step(total_.waves)});
    table.row({"collectives in the loop", count_text(total_.collectives)});
    table.row({"time of a step, mean over ranks", seconds_text(times_.mean)});
  }

 private:
  comm::Transport& transport_;
  comm::Counters counters_, total_;
  Summary times_;
  double seconds_ = 0;
  std::int64_t steps_ = 0;
  int all_steps_;
  ProgressLine line_;
};

std::string format_ranks(const comm::Transport& t) {
  return fmt::format("{}{}", t.size(), t.size() == 1 ? " rank" : " ranks");
}

/// Describes a plane of blocks with ranks and communication model, for the headline of the results.
std::string describe_plane(const Plane& p, const char* cells, const comm::Transport& t) {
  return fmt::format("{} x {} {} in {} x {} blocks of {} x {}; {}, {}", p.width(), p.height(), cells, p.grid.blocks[0],
                     p.grid.blocks[1], p.edge, p.edge, format_ranks(t), t.name());
}

/// Prints table, result of --check and digest of the droplet or Potts simulation, unless standard output is taken by a record or
/// a picture.
void print_results(const DemoOptions& o, const comm::Transport& t, const std::string& head, const Table& table,
                   const std::string& verdict, const std::string& digest) {
  if (o.json == "-" || o.picture == "-") return;
  std::cout << head << '\n';
  if (!t.choice().empty()) std::cout << t.choice() << '\n';
  std::cout << '\n' << table.text() << '\n';
  if (!verdict.empty()) std::cout << verdict << '\n';
  std::cout << "digest " << digest << '\n';
  std::cout << written_line({o.json, o.picture});
}

/// Makes the run record of `announce demo` with times and counters of the time loop, without the results of the simulation.
Json make_demo_record(const DemoOptions& o, const Invocation& in, const comm::Transport& t, const TimeLoop& loop) {
  Json record = make_record(in, {t.size(), std::string(t.name()), std::string(t.choice()), o.ranks.decorators, ""});
  record["timings"]["step"] = summary_json(loop.times());
  record["counters"] = counters_json(loop.total());
  record["checks"] = {{"check", o.check}};
  return record;
}

/// Throws VerificationError on every rank if --check found a difference after a step. Called by every rank with the same arguments.
void require_equal(const std::string& difference, std::int64_t step) {
  if (difference.empty()) return;
  collective_try([&] { throw VerificationError(fmt::format("step {}: {}", step, difference)); });
}

/// Interpolates linearly between two colours 0xRRGGBB of the droplet picture. @param share  of `to`, in [0, 1]
std::uint32_t blend(double share, std::uint32_t from, std::uint32_t to) {
  std::uint32_t out = 0;
  for (const int shift : {16, 8, 0}) {
    const double a = from >> shift & 0xFFU;
    const double b = to >> shift & 0xFFU;
    out = out << 8 | static_cast<std::uint32_t>(a + share * (b - a) + 0.5);
  }
  return out;
}

/// Writes the run record and the SVG picture of `announce demo`, where their names are given. Called by rank 0.
void write_files(const DemoOptions& o, const Json& record, const PictureOf& picture) {
  if (!o.json.empty()) write_record(o.json, record);
  if (!o.picture.empty()) write_picture(o.picture, draw(picture));
}

/// Results of the droplet simulation, totals over all ranks; filled by droplet_totals() and run_droplet().
struct DropletTotals {
  std::int64_t at_start = 0, at_end = 0, most = 0;  ///< numbers of blocks: at start and end, largest
  std::int64_t updates = 0;                         ///< updates of single cells
  std::int64_t messages = 0;                        ///< messages of the announcement network
  std::int64_t empty = 0;                           ///< messages without an announcement
  std::string network;
  std::string digest;
};

/// Returns the text table of the droplet simulation's results: blocks, updates, announcements, traffic of the time loop.
Table droplet_table(const DemoOptions& o, const Droplet& droplet, const DropletTotals& n, const TimeLoop& loop) {
  const Plane plane = o.droplet.plane();
  const auto& counts = droplet.directory().counts();
  const double all = static_cast<double>(plane.width() * plane.height()) * o.steps;
  const double empty = n.messages > 0 ? static_cast<double>(n.empty) / static_cast<double>(n.messages) : 0;
  Table table({"", "value"});
  table.row({"steps", count_text(o.steps)});
  table.row({"blocks at the start", count_text(n.at_start)});
  table.row({"blocks at the end", count_text(n.at_end)});
  table.row({"most blocks at a time", count_text(n.most)});
  table.row({"blocks created", count_text(counts.created)});
  table.row({"blocks removed", count_text(counts.removed)});
  table.row({"proposals that came second", count_text(counts.lost)});
  table.row({"cells updated, of a run on all cells", percent_text(static_cast<double>(n.updates) / all)});
  table.row({"steps until every rank knows", count_text(droplet.network().time_to_live())});
  if (n.messages > 0) table.row({"announcement messages without content", percent_text(empty)});
  loop.add_rows(table);
  return table;
}

/// Converts the results of the droplet simulation to the result of its run record.
Json droplet_json(const DemoOptions& o, const Droplet& droplet, const DropletTotals& n) {
  const auto& counts = droplet.directory().counts();
  return {{"steps", o.steps},
          {"blocks_start", n.at_start},
          {"blocks_end", n.at_end},
          {"blocks_most", n.most},
          {"created", counts.created},
          {"removed", counts.removed},
          {"lost", counts.lost},
          {"cell_updates", n.updates},
          {"network", n.network},
          {"time_to_live", droplet.network().time_to_live()},
          {"announcement_messages", n.messages},
          {"announcement_messages_empty", n.empty},
          {"digest", n.digest}};
}

/// Reduces the results of the droplet simulation over ranks at its end: updates, messages, blocks, digest. Collective.
DropletTotals droplet_totals(comm::Transport& t, const Droplet& droplet) {
  DropletTotals n;
  const auto& announced = droplet.network().statistics();
  n.updates = t.all_reduce(droplet.cell_updates(), comm::Op::sum);
  n.messages = t.all_reduce(announced.messages, comm::Op::sum);
  n.empty = t.all_reduce(announced.empty, comm::Op::sum);
  n.at_end = static_cast<std::int64_t>(droplet.directory().all_blocks().size());
  n.digest = format_digest(t, droplet.digest());
  return n;
}

/// Results of the Potts simulation, totals over all ranks but `exchanges`; filled by potts_totals().
struct PottsTotals {
  std::int64_t flips = 0, packages = 0, entries = 0;  ///< changed sites, packages between blocks, cells in them
  std::int64_t exchanges = 0;                         ///< local exchanges that each rank made
  std::int64_t cells = 0;                             ///< number of cells at the end
  Summary volume;                                     ///< volumes of the cells, in sites
  std::string digest;
};

/// Reduces the results of the Potts simulation over ranks at its end: changed sites, packages, volumes of cells, digest.
/// Collective.
PottsTotals potts_totals(comm::Transport& t, const Potts& potts, const Plane& plane, const std::vector<Site>& lattice) {
  PottsTotals n;
  const auto& counts = potts.exchange().counts();
  n.flips = t.all_reduce(potts.flips(), comm::Op::sum);
  n.packages = t.all_reduce(counts.packages, comm::Op::sum);
  n.entries = t.all_reduce(counts.entries, comm::Op::sum);
  n.exchanges = counts.steps;
  n.digest = format_digest(t, potts.digest());
  std::vector<double> volumes;
  for (const auto& [site, cell] : recount(plane, lattice)) volumes.push_back(static_cast<double>(cell.volume));
  n.cells = static_cast<std::int64_t>(volumes.size());
  n.volume = summarise(volumes);
  return n;
}

/// Returns the text table of the Potts simulation's results: cells, volumes, packages, traffic of the time loop.
Table potts_table(const DemoOptions& o, const PottsTotals& n, const TimeLoop& loop) {
  const auto packages = static_cast<double>(n.packages);
  Table table({"", "value"});
  table.row({"steps of four colours", count_text(o.steps)});
  table.row({"cells at the start", count_text(o.potts.cells())});
  table.row({"cells at the end", count_text(n.cells)});
  table.row({"volume of a cell, least", fixed_text(n.volume.min, 0)});
  table.row({"volume of a cell, median", fixed_text(n.volume.median, 0)});
  table.row({"volume of a cell, greatest", fixed_text(n.volume.max, 0)});
  table.row({"sites changed per step", count_text(n.flips / o.steps)});
  table.row({"packages per exchange, all blocks", fixed_text(packages / static_cast<double>(n.exchanges), 1)});
  table.row({"cells per package", fixed_text(static_cast<double>(n.entries) / std::max(1.0, packages), 1)});
  loop.add_rows(table);
  return table;
}

/// Converts the results of the Potts simulation to the result of its run record.
Json potts_json(const DemoOptions& o, const PottsTotals& n) {
  return {
      {"steps", o.steps},  {"cells_start", o.potts.cells()}, {"cells_end", n.cells}, {"volume", summary_json(n.volume)},
      {"flips", n.flips},  {"packages", n.packages},         {"entries", n.entries}, {"exchanges", n.exchanges},
      {"digest", n.digest}};
}

}  // namespace

// Droplet simulation of `announce demo`: time loop on blocks, beside it the reference on all cells for --check, then results and
// files.
void run_droplet(const DemoOptions& o, const Invocation& in, comm::Transport& t) {
  const Plane plane = o.droplet.plane();
  const auto network = collective_try([&] { return droplet_network(o.droplet, t.size()); });
  Droplet droplet(t, o.droplet, o.owner);
  const auto blocks = [&] { return static_cast<std::int64_t>(droplet.directory().all_blocks().size()); };
  const std::int64_t at_start = blocks();
  std::int64_t most = at_start;
  std::optional<WholeDroplet> whole;
  if (o.check) whole.emplace(o.droplet);
  TimeLoop loop(t, o.steps);
  for (int s = 0; s < o.steps; ++s) {
    loop.step([&] { droplet.step(); });
    if (s + 1 == o.disturb) droplet.disturb();
    most = std::max(most, blocks());
    if (!o.check) continue;
    whole->step();
    require_equal(first_difference(t, droplet, plane, *whole), droplet.steps());
  }
  loop.finish();
  DropletTotals n = droplet_totals(t, droplet);
  n.at_start = at_start;
  n.most = most;
  n.network = network->describe();
  const auto cells = o.picture.empty() ? std::vector<double>() : gather_cells(t, droplet, plane);
  if (t.rank() != 0) return;
  print_results(
      o, t, "droplets: " + describe_plane(plane, "cells", t) + ", announcements over " + n.network,
      droplet_table(o, droplet, n, loop),
      o.check ? "check: after every step equal to the run on all cells, every bit; every block has one holder" : "",
      n.digest);
  Json record = make_demo_record(o, in, t, loop);
  record["result"] = droplet_json(o, droplet, n);
  const auto& counts = droplet.directory().counts();
  write_files(o, record,
              {plane, "Droplets after " + count_text(o.steps) + " steps on " + format_ranks(t),
               "Only outlined blocks exist; their colour tells the rank. " + count_text(counts.created) + " created, " +
                   count_text(counts.removed) + " removed on the way.",
               [&](std::int64_t cell) {
                 return blend(std::round(cells[static_cast<std::size_t>(cell)] * 8) / 8, 0xFFFFFFU, 0x9CC3E6U);
               },
               [&](std::int64_t b) { return droplet.directory().owner(b); }});
}

// Potts simulation of `announce demo`: time loop on blocks with a recount of all sites for --check, then results and files.
void run_potts(const DemoOptions& o, const Invocation& in, comm::Transport& t) {
  const Plane plane = o.potts.plane();
  const auto placement = blocks::contiguous_placement(plane.grid, t.rank(), t.size());
  Potts potts(t, o.potts, placement);
  if (o.check) require_equal(first_difference(t, potts, plane), 0);
  TimeLoop loop(t, o.steps);
  for (int s = 0; s < o.steps; ++s) {
    loop.step([&] { potts.step(); });
    if (s + 1 == o.disturb) potts.disturb();
    if (o.check) require_equal(first_difference(t, potts, plane), potts.steps());
  }
  loop.finish();
  const auto lattice = gather_lattice(t, potts, plane);
  const PottsTotals n = potts_totals(t, potts, plane, lattice);
  if (t.rank() != 0) return;
  print_results(
      o, t, "cellular Potts model: " + describe_plane(plane, "sites", t), potts_table(o, n, loop),
      o.check ? "check: after every step volumes, surfaces and centres of all cells equal a recount of all sites" : "",
      n.digest);
  Json record = make_demo_record(o, in, t, loop);
  record["result"] = potts_json(o, n);
  write_files(o, record,
              {plane, "Cells after " + count_text(o.steps) + " steps on " + format_ranks(t),
               "Outlines: blocks, in the colour of their rank.",
               [&](std::int64_t cell) {
                 const Site site = lattice[static_cast<std::size_t>(cell)];
                 return site == 0 ? 0xFFFFFFU : distinct_colour(site, 0.72);
               },
               placement.owner});
}

}  // namespace merganser::app::demo
