#pragma once
/// Description of ForestOptions for the command line and for checks of ranges; not part of the interface.
#include "merganser/base/options.hpp"
#include "merganser/msf/minimum_forest.hpp"

namespace merganser::msf {

/// Passes the name, member, meaning and range of each option of spanning forests of graphs to `option`.
void describe(ForestOptions& o, auto&& option) {
  option("method", o.method, "of --algo auto: how the forest is found; every method finds the same one",
         forest_methods());
  option("policy", o.policy, "what a round contracts: whole trees of chosen edges, or stars cut out of them",
         Choices<links::Policy>{{{"trees", links::Policy::trees}, {"stars", links::Policy::stars}}});
  option("base-case", o.base_case,
         "vertices or components up to which ranks may hold arrays of all of them, and Kruskal finishes; 0: never, "
         "a rank then holds labels of all vertices only where it has at least half as many edges as there are vertices",
         at_least(0));
  option("threads", o.threads, "threads of each rank in the passes over its edges", between(1, 1024));
}

}  // namespace merganser::msf
