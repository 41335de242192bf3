#include "src/msf/euclidean/state.hpp"

namespace merganser::msf::euclidean {

Contraction contract(const std::vector<Choice>& best, const std::vector<std::uint8_t>& chosen) {
  const auto n = static_cast<std::uint32_t>(best.size());
  Contraction out;
  out.keeps.assign(n, 0);
  std::vector<std::uint32_t> up(n);
  for (std::uint32_t c = 0; c < n; ++c) {
    const std::uint32_t to = chosen[c] != 0 ? best[c].to : c;
    const bool dual = to != c && chosen[to] != 0 && best[to].to == c;
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

}  // namespace

template <std::size_t D>
int local_rounds(State<D>& state, const std::vector<double>& remote_bounds,
                 const std::function<void(double)>& progress) {
  std::vector<Key> least_remote;  // by component; at first every point is one
  for (const double d2 : remote_bounds) least_remote.push_back({d2, 0, 0});
  int rounds = 0;
  while (state.components > 1) {
    ++rounds;
    if (progress) progress(1 - static_cast<double>(state.components) / state.tree.size());
    state.choose_from_lists();
    if (rounds > 1) state.search_where_needed(least_remote);
    const Contraction made = contract(state.best, certified(state, least_remote));
    if (made.components == state.components) break;
    std::vector<Key> renamed(remote_bounds.empty() ? 0 : made.components);
    for (std::uint32_t c = 0; c < state.components; ++c) {
      if (made.keeps[c] != 0) state.add_edge(state.best[c].key);
      if (!remote_bounds.empty()) renamed[made.renamed[c]] = std::min(renamed[made.renamed[c]], least_remote[c]);
    }
    for (auto& c : state.component) c = made.renamed[c];
    state.components = made.components;
    least_remote = std::move(renamed);
  }
  return rounds;
}

#define MERGANSER_INSTANTIATE(N) \
  template int local_rounds(State<N>&, const std::vector<double>&, const std::function<void(double)>&);
MERGANSER_FOR_AXES(MERGANSER_INSTANTIATE)

}  // namespace merganser::msf::euclidean
