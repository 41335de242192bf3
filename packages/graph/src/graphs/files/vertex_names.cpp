// Relabelling of sparse vertex ids in ascending order, and names of vertices: every name is sent to the rank of its hash, which finds
// its first place in the file; places are then relabelled as sparse ids are.
#include "src/graphs/files/vertex_names.hpp"

#include <algorithm>
#include <cstring>

#include "merganser/comm/collectives.hpp"
#include "src/graphs/files/disk.hpp"

namespace merganser::graphs::detail {
namespace {

constexpr std::size_t kSamples = 256;  ///< vertex ids that each rank contributes to a sample

/// Sorts vertex ids and drops duplicates. Local.
void sort_unique(std::vector<std::uint64_t>& ids) {
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
}

/// Chooses splitters of the vertex ids of all ranks by regular sampling, for the relabelling of sparse ids: the first ids
/// of the ranges of ranks 1, 2, .... Rank r gets the ids from splitter r - 1 on and below splitter r. Collective.
/// @param ids  distinct ids of this rank's arcs, ascending
std::vector<std::uint64_t> choose_id_splitters(const std::vector<std::uint64_t>& ids, comm::Transport& transport) {
  std::vector<std::uint64_t> samples;
  const std::size_t count = std::min(kSamples, ids.size());
  for (std::size_t i = 0; i < count; ++i) samples.push_back(ids[i * ids.size() / count]);
  samples = comm::all_gather(transport, samples).flat();
  std::sort(samples.begin(), samples.end());
  std::vector<std::uint64_t> out;
  const auto ranks = static_cast<std::size_t>(transport.size());
  for (std::size_t rank = 1; rank < ranks; ++rank)
    out.push_back(samples.empty() ? 0 : samples[rank * samples.size() / ranks]);
  return out;
}

/// Message of the relabelling of sparse vertex ids: a request for the new number of an original id, to the owner of the id.
struct IdRequest {
  std::uint64_t id;         ///< original id of a vertex
  std::uint64_t requester;  ///< requesting rank
};

/// Text that a rank has received: a name with a place or number, and its sender.
struct ReceivedName {
  std::uint64_t vertex;
  std::string name;
  std::uint64_t sender;
};

/// Appends a name to a message.
void append_name(std::vector<std::byte>& message, const VertexName& named) {
  const std::uint64_t head[2] = {named.vertex, named.name.size()};
  const std::size_t had = message.size();
  message.resize(had + sizeof head + named.name.size());
  std::memcpy(message.data() + had, head, sizeof head);
  if (!named.name.empty()) std::memcpy(message.data() + had + sizeof head, named.name.data(), named.name.size());
}

/// Sends names to their owners in rounds, so that the memory for messages is bounded. Collective.
template <class Owner>
std::vector<ReceivedName> send_names(comm::Transport& transport, const std::vector<VertexName>& names,
                                     const Owner& owner) {
  std::vector<ReceivedName> received;
  std::size_t at = 0;
  for (bool more = true; more;) {
    std::vector<std::vector<std::byte>> out(static_cast<std::size_t>(transport.size()));
    for (std::size_t bytes = 0; at < names.size() && bytes < comm::kRoundBytes; ++at) {
      append_name(out[static_cast<std::size_t>(owner(names[at]))], names[at]);
      bytes += names[at].name.size() + 2 * sizeof(std::uint64_t);
    }
    more = transport.all_reduce(std::int64_t{at < names.size() ? 1 : 0}, comm::Op::max) != 0;
    const auto in = transport.all_to_all(out);
    for (std::size_t sender = 0; sender < in.size(); ++sender) {
      for (std::size_t from = 0; from < in[sender].size();) {
        std::uint64_t head[2];
        std::memcpy(head, in[sender].data() + from, sizeof head);
        from += sizeof head;
        received.push_back(
            {head[0], std::string(reinterpret_cast<const char*>(in[sender].data()) + from, head[1]), sender});
        from += head[1];
      }
    }
  }
  return received;
}

}  // namespace

std::uint64_t NewIds::of(std::uint64_t id) const {
  return std::lower_bound(known.begin(), known.end(), id,
                          [](const NewId& a, std::uint64_t wanted) { return a.id < wanted; })
      ->number;
}

// Relabelling of ids: ranges of ids, by samples, are numbered by the ranks that get them.
NewIds relabel_ids(std::vector<std::uint64_t> wanted, comm::Transport& transport) {
  sort_unique(wanted);
  const std::vector<std::uint64_t> starts = choose_id_splitters(wanted, transport);
  const auto owner = [&](std::uint64_t id) {
    return static_cast<int>(std::upper_bound(starts.begin(), starts.end(), id) - starts.begin());
  };

  // 1. Each rank sends its distinct ids to the ranks of their ranges, which number them.
  std::vector<IdRequest> questions;
  questions.reserve(wanted.size());
  for (const std::uint64_t id : wanted) questions.push_back({id, static_cast<std::uint64_t>(transport.rank())});
  questions =
      comm::send_to_owners_in_rounds(transport, std::move(questions), [&](const IdRequest& q) { return owner(q.id); });
  std::vector<std::uint64_t> here;
  here.reserve(questions.size());
  for (const IdRequest& q : questions) here.push_back(q.id);
  sort_unique(here);
  const comm::Share share = comm::compute_share(transport, here.size());

  // 2. Replies with the new numbers, sorted by id for binary search.
  const auto number = [&](std::uint64_t id) {
    return share.before + static_cast<std::uint64_t>(std::lower_bound(here.begin(), here.end(), id) - here.begin());
  };
  struct IdReply {  // message with the new number of an id, to the rank that requested it
    NewId answer;
    std::uint64_t requester;
  };
  std::vector<IdReply> replies;
  replies.reserve(questions.size());
  for (const IdRequest& q : questions) replies.push_back({{q.id, number(q.id)}, q.requester});
  replies = comm::send_to_owners_in_rounds(transport, std::move(replies),
                                           [](const IdReply& a) { return static_cast<int>(a.requester); });
  NewIds result;
  result.vertices = share.all;
  result.known.reserve(replies.size());
  for (const IdReply& reply : replies) result.known.push_back(reply.answer);
  std::sort(result.known.begin(), result.known.end(), [](const NewId& a, const NewId& b) { return a.id < b.id; });

  // 3. Original ids to the owners of the vertices in Ranges::even(): ranges of splitters are of unequal length.
  struct Name {  // message with the original id of a vertex, to the rank that owns the vertex
    std::uint64_t number, name;
  };
  std::vector<Name> names;
  names.reserve(here.size());
  for (std::size_t i = 0; i < here.size(); ++i) names.push_back({share.before + i, here[i]});
  const Ranges ranges = Ranges::even(share.all, transport.size());
  names = comm::send_to_owners_in_rounds(transport, std::move(names),
                                         [&](const Name& n) { return ranges.owner(n.number); });
  std::sort(names.begin(), names.end(), [](const Name& a, const Name& b) { return a.number < b.number; });
  result.originals.reserve(names.size());
  for (const Name& n : names) result.originals.push_back(n.name);
  return result;
}

std::uint64_t NameTable::hash_name(std::string_view name) {  // FNV-1a
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return hash ^ hash >> 32;
}

std::uint64_t NameTable::number(std::string_view name, std::uint64_t place) {
  if (const auto found = numbers_.find(name); found != numbers_.end()) return found->second;
  constexpr std::uint64_t kEach = 160;  // a string in the list, one in the table, a node of the table
  bytes_ += kEach + 2 * name.size();
  if (bytes_ > checked_) {
    check_memory(path_, 3.0 * static_cast<double>(bytes_), sharing_,
                 std::to_string(names_.size()) + " names on a rank");
    checked_ = 2 * bytes_;
  }
  const std::uint64_t number = names_.size();
  numbers_.emplace(name, number);
  names_.push_back({place, std::string(name)});
  return number;
}

// Names of all ranks: the rank of a name's hash tells its first place to all that have it.
void merge_names(const NameTable& table, Raw& raw, comm::Transport& transport) {
  const auto ranks = static_cast<std::uint64_t>(transport.size());
  const auto owner = [&](const VertexName& n) { return static_cast<int>(NameTable::hash_name(n.name) % ranks); };
  auto asked = send_names(transport, table.names(), owner);
  std::sort(asked.begin(), asked.end(), [](const ReceivedName& a, const ReceivedName& b) {
    if (const int order = a.name.compare(b.name); order != 0) return order < 0;
    return a.vertex < b.vertex;
  });
  struct Reply {  // message with the first place of a name, to a rank that has it at another
    std::uint64_t place, first, sender;
  };
  std::vector<Reply> replies;
  replies.reserve(asked.size());
  raw.names.clear();
  for (ReceivedName& a : asked) {
    if (raw.names.empty() || raw.names.back().name != a.name) raw.names.push_back({a.vertex, std::move(a.name)});
    replies.push_back({a.vertex, raw.names.back().vertex, a.sender});
  }
  asked = {};
  replies = comm::send_to_owners_in_rounds(transport, std::move(replies),
                                           [](const Reply& r) { return static_cast<int>(r.sender); });
  // Places ascend with the numbers of names on a rank.
  std::sort(replies.begin(), replies.end(), [](const Reply& a, const Reply& b) { return a.place < b.place; });
  raw.arcs.for_each([&](Arc& arc) {
    arc.from = replies[static_cast<std::size_t>(arc.from)].first;
    arc.to = replies[static_cast<std::size_t>(arc.to)].first;
  });
  raw.named = true;
}

std::vector<std::string> distribute_names(const std::vector<VertexName>& names, std::uint64_t vertices,
                                          comm::Transport& transport) {
  const Ranges ranges = Ranges::even(vertices, transport.size());
  auto mine = send_names(transport, names, [&](const VertexName& n) { return ranges.owner(n.vertex); });
  std::sort(mine.begin(), mine.end(), [](const ReceivedName& a, const ReceivedName& b) { return a.vertex < b.vertex; });
  std::vector<std::string> out;
  out.reserve(mine.size());
  for (ReceivedName& n : mine) out.push_back(std::move(n.name));
  return out;
}

}  // namespace merganser::graphs::detail
