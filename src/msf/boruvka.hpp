#pragma once
/// Boruvka's algorithm on edges that lie on any rank: choose, contract, relabel.
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "merganser/links/contract.hpp"
#include "merganser/msf/forest.hpp"
#include "src/msf/components.hpp"

namespace merganser::msf {

template <class Edge>
class Boruvka {
 public:
  struct Options {
    links::Policy policy = links::Policy::trees;
    std::uint64_t base_case = 0;
  };
  /// Collective. `components` and what is behind `peers` must outlive it. Policy stars needs direct peers.
  Boruvka(Components& components, Peers& peers, const Options& options, Report& report);

  /// Contracts along `edges` (ends by their original ids) until none joins two components. Edges of the forest are
  /// appended to `forest` on the rank where they are found. Collective.
  void run(std::span<const Edge> edges, std::vector<Edge>& forest);

  /// Edges of `edges` whose ends are in different components by now, in their order. Collective.
  [[nodiscard]] std::vector<Edge> between_components(std::span<const Edge> edges);

 private:
  /// An edge between components: a and b are positions in names_.
  struct Live {
    std::uint32_t a;
    std::uint32_t b;
    Edge key;
  };
  struct Candidate {
    std::uint64_t component;
    std::uint64_t other;
    Edge key;
  };
  struct Announcement {
    std::uint32_t target;
    std::uint32_t source;
  };
  /// What this rank's component, first + vertex, has chosen.
  struct Choice {
    std::uint32_t vertex;
    std::uint64_t other;
    Edge key;
  };

  [[nodiscard]] std::vector<std::uint64_t> labels_of(std::span<const Edge> edges, std::vector<std::uint32_t>& ends);
  void load(std::span<const Edge> edges);
  void rename(const std::vector<std::uint64_t>& labels);
  void drop_parallel();
  void offer();
  void choose();
  void link();
  void contract(std::vector<Edge>& forest);
  void relabel();
  void base_case(std::vector<Edge>& forest);
  void number_components(std::vector<std::uint32_t>& dense, std::vector<std::uint64_t>& all);
  [[nodiscard]] std::vector<Live> merge_to_first(std::vector<Live> mine, std::size_t components);

  Components& components_;
  Peers& peers_;
  Options options_;
  Report& report_;
  std::unique_ptr<comm::Stream> stream_;
  std::vector<std::int64_t> own_ids_;
  std::vector<std::uint64_t> names_;  // components that edges here touch, by ascending owner
  std::vector<std::size_t> slice_;    // per owner: where its names begin
  std::vector<Live> edges_;
  std::vector<std::uint32_t> choice_of_;  // per own vertex: position in choices_
  std::vector<Choice> choices_;
  links::Links links_;
};

}  // namespace merganser::msf
