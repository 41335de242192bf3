#include "src/flow/fft/transform.hpp"

namespace merganser::flow::fft {

bool kiss_available() { return false; }
std::unique_ptr<Transform> make_kiss(std::size_t) { return nullptr; }

}  // namespace merganser::flow::fft
