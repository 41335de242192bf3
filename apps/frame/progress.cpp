// Progress line on a terminal, and the callback that estimates the remaining time.
#include "apps/frame/progress.hpp"

#include <unistd.h>

#include <iostream>
#include <memory>

#include "apps/frame/table.hpp"
#include "merganser/base/timer.hpp"

namespace merganser::app {
namespace {

constexpr double kSecondsBetweenLines = 0.2;
constexpr std::size_t kColumns = 78;
constexpr const char* kErase = "\r\033[K";

}  // namespace

ProgressLine::ProgressLine(bool wanted) : on_(wanted && ::isatty(STDERR_FILENO) != 0) {}

ProgressLine ProgressLine::forced(bool on) {
  ProgressLine line;
  line.on_ = on;
  return line;
}

bool ProgressLine::is_due() const { return on_ && (shown_ < 0 || now() - shown_ >= kSecondsBetweenLines); }

void ProgressLine::show(std::string line) {
  if (!is_due()) return;
  shown_ = now();
  if (line.size() > kColumns) line.resize(kColumns);
  std::cerr << kErase << line << std::flush;
}

void ProgressLine::show_count(std::string_view what, double done, double all) {
  if (is_due()) show(std::string(what) + ' ' + general_text(done, 12) + " of " + general_text(all, 12));
}

void ProgressLine::erase() {
  if (on_ && shown_ >= 0) std::cerr << kErase << std::flush;
  shown_ = -1;
}

// Callback of long loops: extrapolates the remaining time from the share done.
std::function<void(std::string_view, double)> progress_callback(bool wanted) {
  struct State {
    explicit State(bool wanted) : line(wanted) {}
    ProgressLine line;
    std::string what;
    double began = 0;
  };
  return [state = std::make_shared<State>(wanted)](std::string_view what, double share) {
    const double time = now();
    if (state->what != what) {
      state->what = what;
      state->began = time;
    }
    if (!state->line.is_due()) return;
    std::string text = state->what + ", " + percent_text(share);
    if (share > 0.02 && time > state->began)
      text += ", about " + seconds_text((time - state->began) * (1 - share) / share) + " to go";
    state->line.show(std::move(text));
  };
}

}  // namespace merganser::app
