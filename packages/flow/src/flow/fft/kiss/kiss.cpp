// Fourier transforms of the flow model by KISS FFT.
#include <complex>

#include <kissfft.hh>

#include "src/flow/fft/transform.hpp"

namespace merganser::flow::fft {
namespace {

/// Complex Fourier transform by KISS FFT, one column of a block at a time.
class Kiss final : public Transform {
 public:
  explicit Kiss(std::size_t n) : library_(n, false), in_(n), out_(n) {}

  Block run(Block block, Block) override {
    for (std::size_t t = 0; t < kLanes; ++t) {
      for (std::size_t j = 0; j < in_.size(); ++j) in_[j] = {block.re[j * kLanes + t], block.im[j * kLanes + t]};
      library_.transform(in_.data(), out_.data());
      for (std::size_t j = 0; j < in_.size(); ++j) {
        block.re[j * kLanes + t] = out_[j].real();
        block.im[j * kLanes + t] = out_[j].imag();
      }
    }
    return block;
  }

 private:
  kissfft<double> library_;
  std::vector<std::complex<double>> in_;
  std::vector<std::complex<double>> out_;
};

}  // namespace

bool kiss_available() { return true; }
std::unique_ptr<Transform> make_kiss(std::size_t n) { return std::make_unique<Kiss>(n); }

}  // namespace merganser::flow::fft
