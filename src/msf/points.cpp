#include "merganser/msf/points.hpp"

namespace merganser::msf {

Choices<Distance> distances() {
  return {{{"euclidean", Distance::euclidean},
           {"manhattan", Distance::manhattan},
           {"chebyshev", Distance::chebyshev},
           {"great-circle", Distance::great_circle}}};
}

std::vector<Period> periods_of(const Box& box, int dimension) {
  std::vector<Period> periods;
  for (std::size_t a = 0; a < 3 && static_cast<int>(a) < dimension; ++a)
    if (box.periodic[a]) periods.push_back({static_cast<int>(a), box.lower[a], box.extent[a]});
  return periods;
}

}  // namespace merganser::msf
