// Stand-in for builds without FFTW: the transform is reported as absent.
#include "src/flow/fft/transform.hpp"

namespace merganser::flow::fft {

bool fftw_available() { return false; }
std::unique_ptr<Transform> make_fftw(std::size_t) { return nullptr; }

}  // namespace merganser::flow::fft
