#pragma once
/// Description of EuclideanOptions for the command line and for checks of ranges; not part of the interface.
#include "merganser/base/options.hpp"
#include "merganser/msf/euclidean.hpp"

namespace merganser::msf {

/// Passes the name, member, meaning and range of each option of Euclidean spanning trees to `option`.
void describe(EuclideanOptions& o, auto&& option) {
  option.section("Points");
  option("leaf", o.leaf, "most points in a leaf of the tree of points", between(4, 64),
         ShownDefault{"48 up to 6 dimensions, 64 beyond"});
  option("neighbours", o.neighbours, "nearest neighbours found for each point before the rounds", between(1, 32));
  option("min-samples", o.min_samples,
         "mutual reachability with the distance to the N-th nearest point, itself counted; 1: plain distances",
         at_least(1));
  option("alpha", o.alpha, "distances are divided by it where they are compared with core distances",
         between(0.001, 1000.0));
  option("most-distances", o.most_distances,
         "beyond 16 dimensions, where every pair is compared: more distances are refused, with what they would cost",
         at_least(1));
}

}  // namespace merganser::msf
