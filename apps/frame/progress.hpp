#pragma once
/// How far long work is: one line on a terminal that changes and goes away in the end.
#include <functional>
#include <string>
#include <string_view>

namespace merganser::app {

class ProgressLine {
 public:
  /// @param wanted  by this rank; nothing is shown where standard error is no terminal
  explicit ProgressLine(bool wanted);
  /// The same where the caller knows that a terminal is there, perhaps that of another process.
  static ProgressLine forced(bool on);
  ProgressLine(ProgressLine&& o) noexcept : on_(o.on_), shown_(o.shown_) { o.on_ = false; }
  ProgressLine& operator=(ProgressLine&&) = delete;
  ~ProgressLine() { erase(); }

  /// True if a line shown now would be seen: five times a second. Cheap.
  [[nodiscard]] bool due() const;
  /// Shows a line in place of the last one, if it is due.
  void show(std::string line);
  /// "cycle 3 of 10"
  void count(std::string_view what, double done, double all);
  void erase();

 private:
  ProgressLine() = default;
  bool on_ = false;
  double shown_ = -1;  ///< when; negative: nothing is shown
};

/// For a search that tells what it does and how far it is: with the time that it will take if it goes on like that.
[[nodiscard]] std::function<void(std::string_view what, double share)> share_progress(bool wanted);

}  // namespace merganser::app
