// Distributions by Boost.Math. The one file that includes it, since its headers take long to compile.
#include "merganser/stats/distributions.hpp"

#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/poisson.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <string>

#include "merganser/base/error.hpp"

namespace merganser {
namespace {

using namespace boost::math::policies;
/// Error policy of Boost.Math for the distributions: overflow gives infinity and underflow 0 instead of an exception, and nothing
/// is computed in long double.
using Quiet = policy<overflow_error<ignore_error>, underflow_error<ignore_error>, denorm_error<ignore_error>,
                     promote_double<false>>;
using Normal = boost::math::normal_distribution<double, Quiet>;
using Student = boost::math::students_t_distribution<double, Quiet>;
using Binomial = boost::math::binomial_distribution<double, Quiet>;
using Poisson = boost::math::poisson_distribution<double, Quiet>;

/// Returns true for infinitely many degrees of freedom, with which Student's distribution is the normal one. @throws UsageError
/// unless freedom > 0
bool is_normal(double freedom) {
  if (!(freedom > 0)) throw UsageError("degrees of freedom are " + std::to_string(freedom) + "; allowed: above 0");
  return std::isinf(freedom);
}

}  // namespace

double normal_quantile(double p) { return quantile(Normal(), p); }

double student_tail(double t, double freedom) {
  return is_normal(freedom) ? cdf(complement(Normal(), t)) : cdf(complement(Student(freedom), t));
}

double student_quantile(double tail, double freedom) {
  if (!(tail > 0 && tail < 1)) throw UsageError("a tail is " + std::to_string(tail) + "; allowed: between 0 and 1");
  return is_normal(freedom) ? quantile(complement(Normal(), tail)) : quantile(complement(Student(freedom), tail));
}

double binomial_up_to(std::uint64_t k, std::uint64_t trials, double p) {
  return cdf(Binomial(static_cast<double>(trials), p), static_cast<double>(k));
}

double poisson_up_to(std::uint64_t k, double mean) { return cdf(Poisson(mean), static_cast<double>(k)); }

double poisson_from(std::uint64_t k, double mean) {
  return k == 0 ? 1 : cdf(complement(Poisson(mean), static_cast<double>(k) - 1));
}

}  // namespace merganser
