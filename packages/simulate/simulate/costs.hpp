#pragma once
/// What costs.cpp knows of a simulated machine, for those who carry messages themselves. C++17, as costs.cpp is.

namespace merganser::simulated {

/// Seconds that a message takes besides the links it travels over.
struct MessageCosts {
  double overhead_s = 0;  ///< of its sender, and of its receiver
  double wire_s = 0;      ///< more than the latencies of the links
};
/// Of messages between two ranks; zeros where MERGANSER_SMPI_COSTS is not set. After MPI_Init.
[[nodiscard]] MessageCosts message_costs(bool on_one_node);

/// Seconds that calls of one-sided communication take (machines.py, Costs).
struct OneSidedCosts {
  double put_s = 0;       ///< overhead of a put
  double get_s = 0;       ///< and of a get
  double epoch_s = 0;     ///< of asking for a window and giving it back, together
  double put_done_s = 0;  ///< from the arrival of the last put until its origin knows
  double get_done_s = 0;
};
/// To a target; as message_costs().
[[nodiscard]] OneSidedCosts one_sided_costs(bool on_one_node);

/// Whether noise of the operating system is simulated. After MPI_Init.
[[nodiscard]] bool has_noise();

/// Around what is a call of MPI to a rank: noise of the operating system may strike before it, as the rank computes, and in
/// it, as it waits.
class Call {
 public:
  Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  ~Call();

 private:
  double began_ = 0;
};

}  // namespace merganser::simulated
