#include "src/flow/fft/transform.hpp"

namespace merganser::flow::fft {

bool fftw_available() { return false; }
std::unique_ptr<Transform> make_fftw(std::size_t) { return nullptr; }

}  // namespace merganser::flow::fft
