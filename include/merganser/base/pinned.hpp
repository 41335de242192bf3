#pragma once
/// What stays where it was made.

namespace merganser {

/// Base of classes whose objects are neither copied nor moved: `class File : Pinned`.
class Pinned {
 public:
  Pinned() = default;
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;
};

}  // namespace merganser
