#pragma once
/// Costs of messages of a simulated machine, as costs.cpp has read them, for code that simulates messages by itself. C++17, as
/// costs.cpp is.

namespace merganser::simulated {

/// Simulated time of a message besides the latency of the links that it crosses, s; filled by message_costs().
struct MessageCosts {
  double overhead_s = 0;  ///< overhead of its sender, and again of its receiver
  double wire_s = 0;      ///< time on the wire in excess of the latencies of the links
};
/// Returns the simulated costs of messages between two ranks on one node, or on two; zeros where MERGANSER_SMPI_COSTS is not set.
/// To be called after MPI_Init.
[[nodiscard]] MessageCosts message_costs(bool on_one_node);

/// Simulated time of one-sided MPI calls, s (class Costs of machines.py); filled by one_sided_costs().
struct OneSidedCosts {
  double put_s = 0;       ///< overhead of an MPI_Put at the origin
  double get_s = 0;       ///< overhead of an MPI_Get at the origin
  double epoch_s = 0;     ///< opening and closing a passive-target epoch, together
  double put_done_s = 0;  ///< from the arrival of the last put until its completion is known at the origin
  double get_done_s = 0;  ///< from the arrival of the last get until its completion is known at the origin
};
/// Returns the simulated costs of one-sided MPI calls to a target on this node, or on another; zeros where MERGANSER_SMPI_COSTS
/// is not set. To be called after MPI_Init.
[[nodiscard]] OneSidedCosts one_sided_costs(bool on_one_node);

/// Returns true if noise of the operating system is simulated. To be called after MPI_Init.
[[nodiscard]] bool has_noise();

/// Scope of a simulated communication call: simulated noise of the operating system may delay the rank before it, while it
/// computes, and in it, while it waits.
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
