#include <string>

#include "merganser/base/error.hpp"
#include "merganser/comm/collectives.hpp"
#include "src/msf/euclidean/remote_boxes.hpp"

namespace merganser::msf::euclidean {
namespace {

/// Asks for the nearest point of another component that comes before a limit.
template <std::size_t D>
struct Question {
  Place<D> at;
  double core;
  Key limit;
  std::uint64_t id;
  std::uint32_t component;
  std::uint32_t point;  ///< of the asker
};
struct Answer {
  double d2;
  std::uint64_t id;
  std::uint32_t component;
  std::uint32_t point;  ///< as asked
};
/// A component's least edge as one rank knows it.
struct Offer {
  Key key;
  std::uint32_t component;
  std::uint32_t to;
};

template <std::size_t D>
class GlobalRounds {
 public:
  GlobalRounds(State<D>& state, RemoteBoxes<D>& others, std::vector<double> remote_bounds, comm::Transport& transport)
      : state_(state),
        others_(others),
        transport_(transport),
        bound_(std::move(remote_bounds)),
        slot_(bound_.size(), kNone),
        least_(state.tree.nodes().size(), 0) {
    number_components();
  }

  [[nodiscard]] bool more() const { return state_.components > 1; }

  void round() {
    state_.choose_from_lists();
    for (const auto v : known_)
      if (knows_outside(v)) offer_outside(v);
    lower_ceiling();
    state_.search_where_needed(ceiling_);
    others_.mark(state_, transport_);
    ask_others();
    contract_all();
  }

  std::int64_t asked = 0;

 private:
  struct Remote {
    Key key;
    std::uint32_t component;
  };

  /// Components of rank 0 first, then of rank 1, ...
  void number_components() {
    const auto [before, total] = comm::share_of(transport_, state_.tree.size() > 0 ? state_.components : 0);
    if (total >= kNone - 1)
      throw InputError(std::to_string(total) + " components left after the local rounds; allowed: below 2^32 - 2");
    for (auto& c : state_.component) c += static_cast<std::uint32_t>(before);
    state_.components = static_cast<std::uint32_t>(total);
  }

  /// True if the nearest of another component on other ranks is known.
  [[nodiscard]] bool knows_outside(std::uint32_t v) const {
    return slot_[v] != kNone && remote_[slot_[v]].component != state_.component[v];
  }
  void offer_outside(std::uint32_t v) {
    const Remote& remote = remote_[slot_[v]];
    Choice& choice = state_.best[state_.component[v]];
    if (remote.key < choice.key) choice = {remote.key, remote.component};
  }

  /// The least squared distance that any rank knows of, by component: nothing above it counts.
  void lower_ceiling() {
    std::vector<double> least(state_.components);
    for (std::size_t c = 0; c < least.size(); ++c) least[c] = state_.best[c].key.d2;
    transport_.all_reduce(least, comm::Op::min);
    ceiling_.resize(least.size());
    for (std::size_t c = 0; c < least.size(); ++c) ceiling_[c].d2 = least[c];
  }
  [[nodiscard]] double most(std::uint32_t c) const { return std::min(ceiling_[c].d2, state_.best[c].key.d2); }
  [[nodiscard]] Key limit(std::uint32_t c) const { return std::min(ceiling_[c], state_.best[c].key); }

  /// Points whose nearest of another component may lie on another rank and come before the limit.
  [[nodiscard]] std::vector<std::uint32_t> askers() {
    std::vector<std::uint32_t> out;
    for (const auto leaf : state_.tree.leaves()) {
      const auto& node = state_.tree.nodes()[leaf];
      const std::uint32_t common = state_.node_component[leaf];
      if (common != kNone && least_[leaf] > most(common)) continue;
      for (std::uint32_t v = node.begin; v < node.end; ++v)
        if (asks(v)) out.push_back(v);
      least_[leaf] = *std::min_element(bound_.begin() + node.begin, bound_.begin() + node.end);
    }
    return out;
  }
  [[nodiscard]] bool asks(std::uint32_t v) {
    const std::uint32_t c = state_.component[v];
    if (bound_[v] > most(c) || knows_outside(v)) return false;
    const Place<D> at = state_.tree.at(v);
    bound_[v] = std::max(bound_[v], others_.distance2(Bounds<D>{at, at}, c));
    return bound_[v] <= most(c) && bound_[v] < kInfinity;
  }

  void ask_others() {
    constexpr std::int64_t kMany = 20000;
    auto open = askers();
    if (transport_.all_reduce(static_cast<std::int64_t>(open.size()), comm::Op::sum) > kMany) {
      ask(scouts(open));
      lower_ceiling();
      open = askers();
    }
    ask(open);
  }

  /// Of every component the point that is nearest to other ranks.
  [[nodiscard]] std::vector<std::uint32_t> scouts(const std::vector<std::uint32_t>& open) const {
    std::vector<std::uint32_t> scout(state_.components, kNone);
    for (const auto v : open) {
      auto& s = scout[state_.component[v]];
      if (s == kNone || bound_[v] < bound_[s]) s = v;
    }
    std::erase(scout, kNone);
    return scout;
  }

  /// One wave of questions, one of answers.
  void ask(const std::vector<std::uint32_t>& open) {
    std::vector<std::vector<Question<D>>> to(others_.ranks());
    for (const auto v : open) {
      const Place<D> at = state_.tree.at(v);
      const Key most = limit(state_.component[v]);
      const Question<D> question{at, state_.core_of(v), most, state_.tree.id(v), state_.component[v], v};
      for (std::size_t r = 0; r < to.size(); ++r) {
        if (others_.distance2(Bounds<D>{at, at}, r, most.d2, question.component) > most.d2) continue;
        to[r].push_back(question);
        ++asked;
      }
      bound_[v] = most == ceiling_[state_.component[v]] ? std::nextafter(most.d2, kInfinity) : most.d2;
    }
    const auto back =
        ask_ranks<Answer>(transport_, std::move(to), [this](const auto& q, auto& answers) { answer(q, answers); });
    for (const auto answers : back)
      for (const auto& a : answers) take(a);
    for (const auto v : open)
      if (knows_outside(v)) offer_outside(v);
  }

  void answer(const Question<D>& q, std::vector<Answer>& to) const {
    const Found found = state_.search({q.at, q.core, q.id, q.component}, q.limit);
    if (found.point == kNone) return;
    to.push_back({found.d2, state_.tree.id(found.point), state_.component[found.point], q.point});
  }

  void take(const Answer& a) {
    const Key key = key_of(a.d2, state_.tree.id(a.point), a.id);
    if (knows_outside(a.point) && remote_[slot_[a.point]].key < key) return;
    if (slot_[a.point] == kNone) {
      slot_[a.point] = static_cast<std::uint32_t>(remote_.size());
      remote_.push_back({});
      known_.push_back(a.point);
    }
    remote_[slot_[a.point]] = {key, a.component};
    bound_[a.point] = a.d2;
  }

  /// All ranks learn the least edge of every component, and contract alike.
  void contract_all() {
    std::vector<Offer> mine;
    for (std::uint32_t c = 0; c < state_.components; ++c) {
      const Choice& choice = state_.best[c];
      if (choice.to != kNone && choice.key.d2 <= ceiling_[c].d2) mine.push_back({choice.key, c, choice.to});
    }
    std::vector<Choice> best(state_.components);
    std::vector<int> from(state_.components, -1);
    const auto offers = comm::all_gather(transport_, mine);
    for (std::size_t r = 0; r < offers.size(); ++r) {
      for (const auto& o : offers[r]) {
        if (!(o.key < best[o.component].key)) continue;
        best[o.component] = {o.key, o.to};
        from[o.component] = static_cast<int>(r);
      }
    }
    const Contraction made = contract(best, std::vector<std::uint8_t>(state_.components, 1));
    for (std::uint32_t c = 0; c < state_.components; ++c)
      if (made.keeps[c] != 0 && from[c] == transport_.rank()) state_.add_edge(best[c].key);
    for (auto& c : state_.component) c = made.renamed[c];
    for (auto& r : remote_) r.component = made.renamed[r.component];
    state_.components = made.components;
    ceiling_.clear();
  }

  State<D>& state_;
  RemoteBoxes<D>& others_;
  comm::Transport& transport_;
  /// By point: on other ranks nothing of another component comes before. Where it is known what comes then, that is in
  /// the slot.
  std::vector<double> bound_;
  std::vector<std::uint32_t> slot_;
  std::vector<Remote> remote_;
  std::vector<std::uint32_t> known_;  ///< by slot: the point
  std::vector<double> least_;         ///< by node, for leaves: no bound of its points is lower
  std::vector<Key> ceiling_;
};

}  // namespace

template <std::size_t D>
void global_rounds(State<D>& state, RemoteBoxes<D>& others, std::vector<double> remote_bounds,
                   comm::Transport& transport, Report& report) {
  GlobalRounds<D> rounds(state, others, std::move(remote_bounds), transport);
  report.fact("euclidean_global_components", state.components);
  std::int64_t count = 0;
  const double first = state.components;
  for (; rounds.more(); ++count) {
    if (report.progress && transport.rank() == 0) report.progress("global rounds", 1 - state.components / first);
    rounds.round();
  }
  report.fact("euclidean_global_rounds", count);
  report.fact("euclidean_questions", rounds.asked);
}

MERGANSER_FOR_AXES(MERGANSER_FUNCTION, global_rounds)

}  // namespace merganser::msf::euclidean
