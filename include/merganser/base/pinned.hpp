#pragma once
/// What stays where it was made.
#include "merganser/base/language.hpp"

namespace merganser {

/// Base of classes whose objects are neither copied nor moved: `class File : Pinned`.
class Pinned {
 public:
  Pinned() = default;
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;
};

}  // namespace merganser
