// Gathering of distributed parcels on the rank that writes them.
#include "src/io/particles/gathered.hpp"

#include <algorithm>
#include <exception>
#include <numeric>

#include "merganser/base/error.hpp"
#include "merganser/comm/collectives.hpp"

namespace merganser::io {

GatheredParcels::GatheredParcels(const Parcels& parcels, int groups, const std::function<int(std::size_t)>& group,
                                 comm::Transport& transport)
    : transport_(transport), mine_(static_cast<std::size_t>(groups)) {
  for (std::size_t i = 0; i < parcels.size(); ++i) mine_[static_cast<std::size_t>(group(i))].push_back(i);
  for (const auto& list : mine_) {
    counts_.push_back(comm::all_gather_value(transport, static_cast<std::int64_t>(list.size())));
    total_.push_back(std::accumulate(counts_.back().begin(), counts_.back().end(), std::int64_t{0}));
  }
}

void GatheredParcels::write(int group, std::size_t width, const Values& values, const Sink& sink) {
  constexpr std::int64_t kValues = std::int64_t{1} << 20;  // that rank 0 holds of a round
  const auto g = static_cast<std::size_t>(group);
  const std::int64_t block =
      std::max<std::int64_t>(256, kValues / transport_.size() / static_cast<std::int64_t>(width));
  const std::int64_t most = *std::max_element(counts_[g].begin(), counts_[g].end());
  const auto count = static_cast<std::int64_t>(mine_[g].size());
  std::vector<double> part;
  for (std::int64_t done = 0; done < most; done += block) {
    const std::int64_t mine = std::clamp<std::int64_t>(count - done, 0, block);
    part.resize(static_cast<std::size_t>(mine) * width);
    for (std::int64_t i = 0; i < mine; ++i)
      values(mine_[g][static_cast<std::size_t>(done + i)], part.data() + static_cast<std::size_t>(i) * width);
    const auto all = comm::gather_to_first(transport_, part);
    on_first([&] {
      std::int64_t first = done;
      for (int r = 0; r < transport_.size(); ++r) {
        const auto rows = all[static_cast<std::size_t>(r)];
        if (!rows.empty()) sink(first, {rows.data(), rows.size()});
        first += counts_[g][static_cast<std::size_t>(r)];
      }
    });
  }
}

void GatheredParcels::write_in_order(int group, std::size_t width, const Values& values, const Sink& sink) {
  const auto g = static_cast<std::size_t>(group);
  const std::int64_t block = std::max<std::int64_t>(256, (std::int64_t{1} << 20) / static_cast<std::int64_t>(width));
  std::int64_t first = 0;
  std::vector<double> part;
  for (int r = 0; r < transport_.size(); ++r) {
    const std::int64_t count = counts_[g][static_cast<std::size_t>(r)];
    for (std::int64_t done = 0; done < count; done += block) {
      const std::int64_t rows = transport_.rank() == r ? std::min(block, count - done) : 0;
      part.resize(static_cast<std::size_t>(rows) * width);
      for (std::int64_t i = 0; i < rows; ++i)
        values(mine_[g][static_cast<std::size_t>(done + i)], part.data() + static_cast<std::size_t>(i) * width);
      const auto all = comm::gather_to_first(transport_, part);
      on_first([&] {
        const auto sent = all[static_cast<std::size_t>(r)];
        sink(first, {sent.data(), sent.size()});
      });
      first += std::min(block, count - done);
    }
  }
}

void GatheredParcels::on_first(const std::function<void()>& action) {
  if (transport_.rank() != 0 || !error_.empty()) return;
  try {
    action();
  } catch (const std::exception& e) {
    error_ = e.what();
  }
}

void GatheredParcels::throw_error() {
  comm::agree(transport_, [&] {
    if (!error_.empty()) throw InputError(error_);
  });
}

}  // namespace merganser::io
