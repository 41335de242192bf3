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

struct Target {
  std::string name;
  std::int64_t bit;
};

/// What is there before anything is disabled, the best first.
const std::vector<Target>& all_targets() {
  static const std::vector<Target> all = [] {
    std::vector<Target> found;
    for (const std::int64_t bit : hwy::SupportedAndGeneratedTargets()) {
      // Highway has two ways to do without vectors, of which a build has one.
      const bool scalar = bit == HWY_SCALAR || bit == HWY_EMU128;
      found.push_back({scalar ? "SCALAR" : hwy::TargetName(bit), bit});
    }
    return found;
  }();
  return all;
}

/// "avx-512" and "AVX512" are one name.
std::string plain(std::string_view name) {
  std::string text;
  for (const char c : name)
    if (c != '-' && c != '_' && c != ' ') text += static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  return text == "AVX512" ? "AVX3" : text;
}

/// The bit of Highway's for the name. @throws UsageError
std::int64_t find_target(const std::string& wanted) {
  for (const Target& target : all_targets())
    if (plain(target.name) == plain(wanted)) return target.bit;
  throw UsageError("MERGANSER_SIMD is \"" + wanted +
                   "\"; allowed on this processor: " + joined(vector_targets(), ", "));
}

/// Disables what is better than a target; a file that is not compiled for it uses the next one. Better ones have lower bits.
void use_at_most(std::int64_t bit) {
  // Both: the first holds when Highway looks again at what the processor has, the second from now on.
  hwy::DisableTargets(bit - 1);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

/// Whether vectors of SVE are as long as those of NEON, which are cheaper to load then.
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
  for (const Target& target : all_targets()) names.push_back(target.name);
  return names;
}

void choose_vectors() {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (detail::vectors_chosen.load(std::memory_order_relaxed)) return;
  (void)all_targets();  // before any is disabled
  if (const char* wanted = std::getenv("MERGANSER_SIMD"); wanted != nullptr && *wanted != '\0') {
    use_at_most(find_target(wanted));
  } else if (has_short_sve()) {
    use_at_most(HWY_NEON);
  }
  detail::vectors_chosen.store(true, std::memory_order_release);
}

}  // namespace merganser
