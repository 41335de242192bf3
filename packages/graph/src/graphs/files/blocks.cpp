// Writing of graph files in text formats: blocks of text of all ranks, written by rank 0 in the order of ranks.
#include "src/graphs/files/blocks.hpp"

#include "merganser/comm/collectives.hpp"
#include "merganser/comm/shared_output.hpp"
#include "src/graphs/files/disk.hpp"

namespace merganser::graphs::detail {

// Writer of text formats: rank 0 appends its own blocks, then receives and appends those of each other rank.
void write_blocks(const std::string& path, const std::string& head, comm::Transport& transport,
                  const std::function<bool(std::string&)>& next,
                  const std::function<std::string(std::span<const char>)>& format) {
  comm::SharedOutput file(path, transport);
  std::uint64_t at = 0;
  const auto append = [&](const void* data, std::size_t bytes) {
    agree_first(transport, [&] {
      if (transport.rank() == 0) file.write(at, data, bytes);
    });
    at += bytes;
  };
  append(head.data(), head.size());
  for (int rank = 0; rank < transport.size(); ++rank) {
    for (bool more = true; more;) {
      std::string mine;
      const bool goes_on = rank == transport.rank() && next(mine);
      more = transport.all_reduce(std::int64_t{goes_on}, comm::Op::max) != 0;
      // Only the rank whose turn it is has text; the others contribute nothing, so rank 0 never holds more than one block.
      const auto in = comm::gather_to_first(transport, mine);
      std::span<const char> block;
      if (transport.rank() == 0) block = in[static_cast<std::size_t>(rank)];
      if (!format) {
        append(block.data(), block.size());
        continue;
      }
      const std::string text = transport.rank() == 0 ? format(block) : std::string();
      append(text.data(), text.size());
    }
  }
  file.commit();
}

}  // namespace merganser::graphs::detail
