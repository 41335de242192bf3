#pragma once
/// Distributed directory: queries to the ranks that own the answers, where the owner is a function of the query.
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "merganser/comm/collectives.hpp"

namespace merganser::comm {

/// Returns the rank, 0 to ranks - 1, that an id hashes to, evenly for consecutive and other ids. The same on every rank.
[[nodiscard]] inline std::size_t hash_to_rank(std::uint64_t id, std::size_t ranks) {
  return static_cast<std::size_t>((id * 0x9e3779b97f4a7c15ULL >> 32) % ranks);
}

/// Sends every question to rank owner(question), which replies with answer(question), and returns the answers in the order
/// of the questions. Collective, two exchanges; questions of a rank to itself are not sent. Questions and answers are
/// trivially copyable.
template <class Question, class Owner, class Answer>
[[nodiscard]] auto query_owners(Transport& transport, std::span<const Question> questions, const Owner& owner,
                                const Answer& answer) {
  using Reply = decltype(answer(questions.front()));
  const auto ranks = static_cast<std::size_t>(transport.size());
  const auto me = static_cast<std::size_t>(transport.rank());
  std::vector<std::vector<Question>> to(ranks);
  for (const Question& q : questions)
    if (const auto r = static_cast<std::size_t>(owner(q)); r != me) to[r].push_back(q);
  const auto asked = all_to_all(transport, std::move(to));
  std::vector<std::vector<Reply>> replies(ranks);
  for (std::size_t r = 0; r < ranks; ++r) {
    replies[r].reserve(asked[r].size());
    for (const Question& q : asked[r]) replies[r].push_back(answer(q));
  }
  const auto told = all_to_all(transport, std::move(replies));
  // Owners reply in the order of arrival, which is the order of this rank's questions, so a counter per owner suffices.
  std::vector<std::size_t> next(ranks, 0);
  std::vector<Reply> out;
  out.reserve(questions.size());
  for (const Question& q : questions) {
    const auto r = static_cast<std::size_t>(owner(q));
    out.push_back(r == me ? answer(q) : told[r][next[r]++]);
  }
  return out;
}

}  // namespace merganser::comm
