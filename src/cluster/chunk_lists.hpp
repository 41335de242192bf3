#pragma once
/// Codes of stars while they are merged, and the work lists of a chunk of vertices, made by vector instructions chosen at run time.
#include <cstddef>
#include <cstdint>

namespace merganser::cluster {

// While stars are merged, the entries of `target` hold their members as linked lists: a centre holds its first source,
// a source the next one. No other memory is needed, because a source is never a centre.
inline constexpr std::uint32_t kSource = 0x80000000U;   ///< this vertex merges into another; low bits: next source
inline constexpr std::uint32_t kHead = 0x40000000U;     ///< this vertex is a centre; low bits: first source
inline constexpr std::uint32_t kMany = 0x20000000U;     ///< with kHead: it has more than one source
inline constexpr std::uint32_t kEnd = 0x1fffffffU;      ///< low bits: no next source
inline constexpr std::uint32_t kGone = kSource | kEnd;  ///< this vertex has migrated to another rank

inline constexpr std::uint32_t kChunk = 4096;    ///< vertices sorted into work lists at a time, at most
inline constexpr std::uint32_t kLaneSlack = 16;  ///< entries beyond the last one of a list that a vector may overwrite

/// Work lists of the merge for a chunk of parcels, sorted by kind so that the loops over it have no branches to predict:
/// whether a vertex is a source or a centre is as good as random. Positions are relative to the first survivor of the chunk.
struct ChunkWork {
  std::uint32_t survivors[kChunk + kLaneSlack];  ///< vertices that remain as parcels
  std::uint32_t pairs[kChunk + kLaneSlack];      ///< positions of centres with one source
  std::uint32_t stars[kChunk + kLaneSlack];      ///< positions of centres with more sources
  std::uint32_t survivor_count;
  std::uint32_t pair_count;
  std::uint32_t star_count;
};

/// Lists the vertices begin .. end - 1 that have a link and are not yet the centre of a star (kHead), in ascending order. Local.
/// @param list  room for end - begin + kLaneSlack entries @return their number
std::size_t list_linked(const std::uint32_t* target, std::uint32_t begin, std::uint32_t end, std::uint32_t* list);

/// Sorts the vertices begin .. end - 1 of this rank, at most kChunk, into the work lists of the merge by their codes. Local.
void sort_chunk(const std::uint32_t* target, std::uint32_t begin, std::uint32_t end, ChunkWork& work);

}  // namespace merganser::cluster
