#pragma once
// Text of a trace file, made without exceptions and without the C++ library, in whose place a traced program may have another.
#include <cstdarg>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace merganser::trace {

/// Text of a trace file that grows by formatted pieces of up to 511 characters; without memory for a piece it is incomplete.
class TextBuffer {
 public:
  ~TextBuffer() { std::free(data_); }
  /// Appends a formatted piece, cut after 511 characters.
  __attribute__((format(printf, 2, 3))) void add(const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    char piece[512];
    const int length = std::vsnprintf(piece, sizeof piece, format, arguments);
    va_end(arguments);
    if (length <= 0) return;
    const auto bytes =
        static_cast<std::size_t>(length) < sizeof piece ? static_cast<std::size_t>(length) : sizeof piece - 1;
    if (used_ + bytes + 1 > room_) {
      const std::size_t room = 2 * (room_ + bytes + 1);
      char* bigger = static_cast<char*>(std::realloc(data_, room));
      if (bigger == nullptr) return set_incomplete();
      data_ = bigger;
      room_ = room;
    }
    std::memcpy(data_ + used_, piece, bytes + 1);
    used_ += bytes;
  }
  /// Returns the text of the trace file so far, ended by a zero byte.
  [[nodiscard]] const char* data() const { return data_ != nullptr ? data_ : ""; }
  /// Returns the length of the trace file's text, bytes.
  [[nodiscard]] std::size_t size() const { return used_; }
  /// Marks the text as incomplete for want of memory: it must not be written, since counts would be too low.
  void set_incomplete() { complete_ = false; }
  /// Returns false if a piece of the trace file is missing for want of memory.
  [[nodiscard]] bool is_complete() const { return complete_; }

 private:
  bool complete_ = true;
  char* data_ = nullptr;
  std::size_t used_ = 0;  ///< length of the trace file's text
  std::size_t room_ = 0;  ///< bytes that are allocated for the text
};

}  // namespace merganser::trace
