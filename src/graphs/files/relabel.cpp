#include "src/graphs/files/relabel.hpp"

#include <algorithm>

#include "merganser/comm/collectives.hpp"

namespace merganser::graphs::detail {
namespace {

constexpr std::size_t kSamples = 256;  ///< ids that each rank shows to find evenly filled ranges

void sort_unique(std::vector<std::uint64_t>& ids) {
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
}

/// First ids of the ranges of ranks 1, 2, ...: what rank r gets lies from splitter r - 1 on and below splitter r.
std::vector<std::uint64_t> splitters(const std::vector<std::uint64_t>& ids, comm::Transport& transport) {
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

struct Question {
  std::uint64_t id;
  std::uint64_t asker;
};

}  // namespace

std::vector<std::uint64_t> relabel(Raw& raw, comm::Transport& transport) {
  std::vector<std::uint64_t> wanted;
  wanted.reserve(2 * raw.arcs.size());
  for (const Arc& arc : raw.arcs) {
    wanted.push_back(arc.from);
    wanted.push_back(arc.to);
  }
  sort_unique(wanted);
  const std::vector<std::uint64_t> starts = splitters(wanted, transport);
  const auto owner = [&](std::uint64_t id) {
    return static_cast<int>(std::upper_bound(starts.begin(), starts.end(), id) - starts.begin());
  };

  // 1. Every id goes to the rank of its range, which numbers the different ones.
  std::vector<Question> questions;
  questions.reserve(wanted.size());
  for (const std::uint64_t id : wanted) questions.push_back({id, static_cast<std::uint64_t>(transport.rank())});
  questions =
      comm::send_to_owners_in_rounds(transport, std::move(questions), [&](const Question& q) { return owner(q.id); });
  std::vector<std::uint64_t> here;
  here.reserve(questions.size());
  for (const Question& q : questions) here.push_back(q.id);
  sort_unique(here);
  const comm::Share share = comm::share_of(transport, here.size());

  // 2. Answers, in the order of ids.
  const auto number = [&](std::uint64_t id) {
    return share.before + static_cast<std::uint64_t>(std::lower_bound(here.begin(), here.end(), id) - here.begin());
  };
  struct Answer {
    std::uint64_t id, number, asker;
  };
  std::vector<Answer> answers;
  answers.reserve(questions.size());
  for (const Question& q : questions) answers.push_back({q.id, number(q.id), q.asker});
  answers = comm::send_to_owners_in_rounds(transport, std::move(answers),
                                           [](const Answer& a) { return static_cast<int>(a.asker); });
  std::sort(answers.begin(), answers.end(), [](const Answer& a, const Answer& b) { return a.id < b.id; });
  const auto renamed = [&](std::uint64_t id) {
    return std::lower_bound(answers.begin(), answers.end(), id,
                            [](const Answer& a, std::uint64_t wanted_id) { return a.id < wanted_id; })
        ->number;
  };
  for (Arc& arc : raw.arcs) arc = {renamed(arc.from), renamed(arc.to), arc.weight};
  raw.vertices = share.all;

  // 3. Names to the ranks that have these vertices in an even division; they come in ascending order of names.
  struct Name {
    std::uint64_t number, name;
  };
  std::vector<Name> names;
  names.reserve(here.size());
  for (std::size_t i = 0; i < here.size(); ++i) names.push_back({share.before + i, here[i]});
  const Ranges ranges = Ranges::even(share.all, transport.size());
  names = comm::send_to_owners_in_rounds(transport, std::move(names),
                                         [&](const Name& n) { return ranges.owner(n.number); });
  std::sort(names.begin(), names.end(), [](const Name& a, const Name& b) { return a.number < b.number; });
  std::vector<std::uint64_t> out;
  out.reserve(names.size());
  for (const Name& n : names) out.push_back(n.name);
  return out;
}

}  // namespace merganser::graphs::detail
