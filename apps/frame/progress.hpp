#pragma once
/// Display of the progress of long work: one line on a terminal that is rewritten, and erased at the end.
#include <functional>
#include <string>
#include <string_view>

namespace merganser::app {

/// Progress line on standard error, shown only on a terminal and rewritten at most five times a second.
class ProgressLine {
 public:
  /// Makes a progress line. @param wanted  true if this rank is to show it; without a terminal nothing is shown
  explicit ProgressLine(bool wanted);
  /// Makes a progress line that is shown without testing for a terminal, for callers whose output another process shows on one.
  static ProgressLine forced(bool on);
  ProgressLine(ProgressLine&& o) noexcept : on_(o.on_), shown_(o.shown_) { o.on_ = false; }
  ProgressLine& operator=(ProgressLine&&) = delete;
  ~ProgressLine() { erase(); }

  /// Returns true if show() would write the progress line now: it is wanted, and 0.2 s have passed since the last one. Cheap.
  [[nodiscard]] bool is_due() const;
  /// Replaces the progress line on the terminal by another one, cut to 78 characters, if it is due.
  void show(std::string line);
  /// Shows "what DONE of ALL" on the progress line, as "cycle 3 of 10", if it is due.
  void show_count(std::string_view what, double done, double all);
  /// Removes the progress line from the terminal.
  void erase();

 private:
  ProgressLine() = default;
  bool on_ = false;
  double shown_ = -1;  ///< time of the last line, in seconds; negative: none is shown
};

/// Returns a callback that shows on a progress line the name of a stage of long work, the share of it that is done (0 to 1), and
/// the remaining time extrapolated from both. The caller may copy it; copies share one line.
[[nodiscard]] std::function<void(std::string_view what, double share)> progress_callback(bool wanted);

}  // namespace merganser::app
