// Fourier transforms of the flow model by FFTW.
#include <fftw3.h>

#include <algorithm>
#include <mutex>
#include <string>
#include <vector>

#include "merganser/base/error.hpp"
#include "src/flow/fft/transform.hpp"

namespace merganser::flow::fft {
namespace {

/// Returns the mutex that serialises planning: FFTW's planner is not thread-safe, and ranks may be threads.
std::mutex& planner() {
  static std::mutex mutex;
  return mutex;
}

/// Complex Fourier transform by FFTW, all columns of a block in one plan, which is estimated and not measured: measured plans
/// differ from run to run, and so do their bits. A plan is bound to its arrays: others need the same distance of real and
/// imaginary parts, so blocks are copied into and out of the arrays of the plan.
class Fftw final : public Transform {
 public:
  explicit Fftw(std::size_t n) : re_(n * kLanes), im_(n * kLanes) {
    const auto lanes = static_cast<int>(kLanes);
    const fftw_iodim length{static_cast<int>(n), lanes, lanes};
    const fftw_iodim columns{lanes, 1, 1};
    const std::lock_guard lock(planner());
    plan_ = fftw_plan_guru_split_dft(1, &length, 1, &columns, re_.data(), im_.data(), re_.data(), im_.data(),
                                     FFTW_ESTIMATE | FFTW_UNALIGNED);
    if (plan_ == nullptr) throw InputError("FFTW has no plan for transforms of " + std::to_string(n) + " elements");
  }
  Fftw(const Fftw&) = delete;
  Fftw& operator=(const Fftw&) = delete;
  ~Fftw() override {
    const std::lock_guard lock(planner());
    fftw_destroy_plan(plan_);
  }

  Block run(Block block, Block) override {
    std::copy_n(block.re, re_.size(), re_.data());
    std::copy_n(block.im, im_.size(), im_.data());
    fftw_execute(plan_);
    std::copy(re_.begin(), re_.end(), block.re);
    std::copy(im_.begin(), im_.end(), block.im);
    return block;
  }

 private:
  std::vector<double> re_;
  std::vector<double> im_;
  fftw_plan plan_ = nullptr;
};

}  // namespace

bool fftw_available() { return true; }
std::unique_ptr<Transform> make_fftw(std::size_t n) { return std::make_unique<Fftw>(n); }

}  // namespace merganser::flow::fft
