// Stand-in for builds without KISS FFT: the transform is reported as absent.
#include "src/flow/fft/transform.hpp"

namespace merganser::flow::fft {

bool kiss_available() { return false; }
std::unique_ptr<Transform> make_kiss(std::size_t) { return nullptr; }

}  // namespace merganser::flow::fft
