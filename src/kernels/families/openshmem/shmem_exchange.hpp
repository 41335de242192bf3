#pragma once
/// What the kernels over OpenSHMEM share.
#include <shmem.h>

#include "src/kernels/families/openshmem/symmetric.hpp"
#include "src/kernels/families/support/exchange_base.hpp"

namespace merganser::kernels::detail {

class ShmemExchange : public ExchangeBase {
 public:
  void settle() override {
    shmem_barrier_all();  // completes what this rank has put
    control_.barrier();
  }

 protected:
  ShmemExchange(comm::Transport& control, std::shared_ptr<SymmetricBlock> block, ExchangePlan plan, Places places)
      : ExchangeBase(control, std::move(plan), places), block_(std::move(block)) {}
  std::shared_ptr<SymmetricBlock> block_;
};

/// Landing zones lie in symmetric memory.
class ShmemPutExchange : public ShmemExchange {
 public:
  ShmemPutExchange(comm::Transport& control, const std::shared_ptr<SymmetricBlock>& block, ExchangePlan plan)
      : ShmemExchange(control, block, std::move(plan), {.landings = block->data()}) {}

 protected:
  void put_nbi(std::size_t buffer) {
    for (std::size_t arc = 0; arc < out_.size(); ++arc) {
      if (out_bytes_[arc] == 0) continue;
      shmem_putmem_nbi(block_->data() + target_at(arc, buffer), out_at(arc, buffer), out_bytes_[arc], out_[arc]);
    }
  }
};

/// Waits for a word that another rank puts to become so large. Not a loop of shmem_uint64_test: in Open MPI that lets
/// nothing else work, so a rank whose put in a window needs this one would wait for ever.
inline void await_word(std::uint64_t* word, std::uint64_t value) { shmem_uint64_wait_until(word, SHMEM_CMP_GE, value); }

}  // namespace merganser::kernels::detail
