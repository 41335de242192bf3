// Record, per thread, of the file that a library such as HDF5 works on, for signal handlers.
#include "merganser/base/library_call.hpp"

#include <utility>

namespace merganser {
namespace {

thread_local const char* t_file = nullptr;  // path of the innermost LibraryCall of this thread

}  // namespace

LibraryCall::LibraryCall(const char* file) noexcept : before_(std::exchange(t_file, file)) {}

LibraryCall::~LibraryCall() { t_file = before_; }

const char* library_call_file() noexcept { return t_file; }

}  // namespace merganser
