#pragma once
/// Base class of types that can be neither copied nor moved.
#include "merganser/base/language.hpp"

namespace merganser {

/// Base class that deletes copy and move, for objects whose address others hold or that own a resource: `class File : Pinned`.
class Pinned {
 public:
  Pinned() = default;
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;
};

}  // namespace merganser
