#pragma once
/// Questions that other ranks answer: who knows is a function of the question.
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "merganser/comm/collectives.hpp"

namespace merganser::comm {

/// The rank that keeps what is known of an id, where ids say nothing of ranks: even shares of whatever ids there are.
[[nodiscard]] inline std::size_t rank_of_id(std::uint64_t id, std::size_t ranks) {
  return static_cast<std::size_t>((id * 0x9e3779b97f4a7c15ULL >> 32) % ranks);
}

/// Every question goes to rank owner(question), which answers it by answer(question). The answers, in the order of the
/// questions. Two collective calls; what a rank asks itself is not sent. Questions and answers are records.
template <class Question, class Owner, class Answer>
[[nodiscard]] auto ask(Transport& transport, std::span<const Question> questions, const Owner& owner,
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
