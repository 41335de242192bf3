#pragma once
/// Display of the progress of long work: one line on a terminal that is rewritten, and erased at the end.
#include <functional>
#include <string>
#include <string_view>

namespace merganser::app {

/// Progress line on standard error, shown only on a terminal and rewritten at most five times a second.
class ProgressLine {
 public:
  /// @param wanted  whether this rank is to show it; without a terminal nothing is shown
  explicit ProgressLine(bool wanted);
  /// Makes a line that is shown without testing for a terminal, for callers whose output another process shows on one.
  static ProgressLine forced(bool on);
  ProgressLine(ProgressLine&& o) noexcept : on_(o.on_), shown_(o.shown_) { o.on_ = false; }
  ProgressLine& operator=(ProgressLine&&) = delete;
  ~ProgressLine() { erase(); }

  /// Returns whether show() would write now: the line is wanted, and 0.2 s have passed since the last one. Cheap.
  [[nodiscard]] bool is_due() const;
  /// Replaces the line by another one, cut to 78 characters, if it is due.
  void show(std::string line);
  /// Shows "what DONE of ALL", as "cycle 3 of 10", if it is due.
  void show_count(std::string_view what, double done, double all);
  /// Removes the line from the terminal.
  void erase();

 private:
  ProgressLine() = default;
  bool on_ = false;
  double shown_ = -1;  ///< time of the last line, in seconds; negative: none is shown
};

/// Returns a callback that shows the name of a stage, the share of it that is done (0 to 1), and the remaining time extrapolated
/// from both. The caller may copy it; copies share one line.
[[nodiscard]] std::function<void(std::string_view what, double share)> progress_callback(bool wanted);

}  // namespace merganser::app
