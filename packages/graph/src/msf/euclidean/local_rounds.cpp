#include "src/msf/euclidean/state.hpp"

namespace merganser::msf::euclidean {

namespace {

/// contract() of n components, where to(c) is the one that c goes with.
Contraction contract_with(std::uint32_t n, const auto& to_of, const std::vector<std::uint8_t>& chosen) {
  Contraction out;
  out.keeps.assign(n, 0);
  std::vector<std::uint32_t> up(n);
  for (std::uint32_t c = 0; c < n; ++c) {
    const std::uint32_t to = chosen[c] != 0 ? to_of(c) : c;
    const bool dual = to != c && chosen[to] != 0 && to_of(to) == c;
    up[c] = dual && c < to ? c : to;
    out.keeps[c] = static_cast<std::uint8_t>(up[c] != c);
  }
  out.renamed.assign(n, kNone);
  for (std::uint32_t c = 0; c < n; ++c) {
    std::uint32_t root = c;
    while (up[root] != root) root = up[root];
    for (std::uint32_t i = c; up[i] != root && i != root;) {
      const std::uint32_t next = up[i];
      up[i] = root;
      i = next;
    }
    if (out.renamed[root] == kNone) out.renamed[root] = out.components++;
    out.renamed[c] = out.renamed[root];
  }
  return out;
}

}  // namespace

Contraction contract(const std::vector<Choice>& best, const std::vector<std::uint8_t>& chosen) {
  return contract_with(
      static_cast<std::uint32_t>(best.size()), [&](std::uint32_t c) { return best[c].to; }, chosen);
}

namespace {

/// Certified components: their least edge comes before whatever other ranks hold.
template <std::size_t D>
std::vector<std::uint8_t> certified(const State<D>& state, const std::vector<Key>& remote_bounds) {
  std::vector<std::uint8_t> chosen(state.components);
  for (std::uint32_t c = 0; c < state.components; ++c)
    chosen[c] = static_cast<std::uint8_t>(state.best[c].to != kNone &&
                                          (remote_bounds.empty() || state.best[c].key < remote_bounds[c]));
  return chosen;
}

/// Takes over what was contracted; `key(c)` is the least edge of an old component.
template <std::size_t D, class KeyOf>
void take_over(State<D>& state, const Contraction& made, const KeyOf& key, std::vector<Key>& least_remote) {
  std::vector<Key> renamed(least_remote.empty() ? 0 : made.components);
  for (std::uint32_t c = 0; c < state.components; ++c) {
    if (made.keeps[c] != 0) state.add_edge(key(c));
    if (!least_remote.empty()) renamed[made.renamed[c]] = std::min(renamed[made.renamed[c]], least_remote[c]);
  }
  for (auto& c : state.component) c = made.renamed[c];
  state.components = made.components;
  least_remote = std::move(renamed);
}

/// The first round: every point is a component, and its least edge leads to its nearest. (A list of choices for all of them
/// would be the most memory of all.) @return false if nothing was contracted
template <std::size_t D>
bool first_round(State<D>& state, std::vector<Key>& least_remote) {
  const auto key = [&](std::uint32_t v) { return state.key(v, state.nearest[v], state.bound[v]); };
  std::vector<std::uint8_t> chosen(state.components);
  for (std::uint32_t v = 0; v < state.components; ++v)
    chosen[v] = static_cast<std::uint8_t>(state.nearest[v] != v && (least_remote.empty() || key(v) < least_remote[v]));
  const Contraction made = contract_with(
      state.components, [&](std::uint32_t v) { return state.nearest[v]; }, chosen);
  if (made.components == state.components) return false;
  take_over(state, made, key, least_remote);
  return true;
}

}  // namespace

template <std::size_t D>
int local_rounds(State<D>& state, const std::vector<double>& remote_bounds,
                 const std::function<void(double)>& progress) {
  std::vector<Key> least_remote;  // by component; at first every point is one
  for (const double d2 : remote_bounds) least_remote.push_back({d2, 0, 0});
  if (state.components <= 1) return 0;
  if (!first_round(state, least_remote)) return 1;
  int rounds = 1;
  while (state.components > 1) {
    ++rounds;
    if (progress) progress(1 - static_cast<double>(state.components) / state.tree.size());
    state.choose_from_lists();
    state.search_where_needed(least_remote);
    const Contraction made = contract(state.best, certified(state, least_remote));
    if (made.components == state.components) break;
    take_over(
        state, made, [&](std::uint32_t c) { return state.best[c].key; }, least_remote);
  }
  return rounds;
}

MERGANSER_FOR_AXES(MERGANSER_FUNCTION, local_rounds)

}  // namespace merganser::msf::euclidean
