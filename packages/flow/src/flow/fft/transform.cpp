// Choice among the libraries of complex Fourier transforms that this build has: lanes, FFTW, KISS FFT.
#include "src/flow/fft/transform.hpp"

#include "merganser/base/error.hpp"
#include "merganser/flow/inversion.hpp"

namespace merganser::flow::fft {

std::vector<std::string> libraries() {
  std::vector<std::string> names{"lanes"};
  if (fftw_available()) names.emplace_back("fftw");
  if (kiss_available()) names.emplace_back("kiss");
  return names;
}

// Choice of the library of Fourier transforms by its name.
std::unique_ptr<Transform> make_transform(const std::string& library, std::size_t n) {
  std::unique_ptr<Transform> made;
  if (library == "auto" || library == "lanes") made = make_lanes(n);
  if (library == "kiss") made = make_kiss(n);
  if (library == "fftw") made = make_fftw(n);
  if (made) return made;
  std::string allowed = "auto";
  for (const std::string& name : libraries()) allowed += ", " + name;
  throw UsageError("library of Fourier transforms " + library + "; allowed in this build: " + allowed);
}

}  // namespace merganser::flow::fft

std::vector<std::string> merganser::flow::fft_libraries() { return fft::libraries(); }
