// Choice of the vector instruction set of all vectorised loops, by MERGANSER_SIMD or the processor, through Highway.
#include "merganser/base/vectors.hpp"

#include <hwy/targets.h>

#if defined(__linux__)
#include <sys/prctl.h>
#endif

#include <algorithm>
#include <cstdlib>
#include <mutex>

#include "merganser/base/error.hpp"
#include "merganser/base/text.hpp"

namespace merganser {
namespace {

/// Vector instruction set that Highway can use, with its bit in Highway's sets of targets.
struct InstructionSet {
  std::string name;  // name of the instruction set, as MERGANSER_SIMD takes it
  std::int64_t bit;  // in Highway; better sets have lower bits
};

/// Returns the vector instruction sets of build and processor, the best first, as they are before choose_vectors() disables any.
const std::vector<InstructionSet>& all_targets() {
  static const std::vector<InstructionSet> all = [] {
    std::vector<InstructionSet> found;
    for (const std::int64_t bit : hwy::SupportedAndGeneratedTargets()) {
      // Highway has two targets without vector instructions, of which a build has one.
      const bool scalar = bit == HWY_SCALAR || bit == HWY_EMU128;
      found.push_back({scalar ? "SCALAR" : hwy::TargetName(bit), bit});
    }
    return found;
  }();
  return all;
}

/// Converts the name of a vector instruction set to upper case without separators: "avx-512" and "AVX512" are one name, AVX3 in
/// Highway.
std::string normalised_name(std::string_view name) {
  std::string text;
  for (const char c : name)
    if (c != '-' && c != '_' && c != ' ') text += static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  return text == "AVX512" ? "AVX3" : text;
}

/// Returns Highway's bit of a vector instruction set by its name. @throws UsageError if build or processor does not support it
std::int64_t find_target(const std::string& wanted) {
  for (const InstructionSet& target : all_targets())
    if (normalised_name(target.name) == normalised_name(wanted)) return target.bit;
  throw UsageError("MERGANSER_SIMD is \"" + wanted +
                   "\"; allowed on this processor: " + joined(vector_targets(), ", "));
}

/// Disables, in Highway, all vector instruction sets that are better than one; in Highway better ones have lower bits. A file that
/// is not compiled for that one uses the next.
void limit_targets(std::int64_t bit) {
  // Both are needed: the first for later queries of the processor by Highway, the second for the table of functions in use now.
  hwy::DisableTargets(bit - 1);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

/// Returns true if vectors of SVE are no longer than those of NEON (16 bytes): NEON is faster then, since its loads are cheaper.
bool has_short_sve() {
#if HWY_ARCH_ARM_A64 && defined(__linux__)
  const int length = ::prctl(PR_SVE_GET_VL);
  return length >= 0 && (length & PR_SVE_VL_LEN_MASK) <= 16;
#else
  return false;
#endif
}

}  // namespace

std::vector<std::string> vector_targets() {
  std::vector<std::string> names;
  for (const InstructionSet& target : all_targets()) names.push_back(target.name);
  return names;
}

// Chooses the instruction set of all vectorised loops, once per process, by MERGANSER_SIMD or as the fastest that build and
// processor have.
void choose_vectors() {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (detail::vectors_chosen.load(std::memory_order_relaxed)) return;
  (void)all_targets();  // lists them before any is disabled
  if (const char* wanted = std::getenv("MERGANSER_SIMD"); wanted != nullptr && *wanted != '\0') {
    limit_targets(find_target(wanted));
  } else if (has_short_sve()) {
    limit_targets(HWY_NEON);
  }
  detail::vectors_chosen.store(true, std::memory_order_release);
}

}  // namespace merganser
