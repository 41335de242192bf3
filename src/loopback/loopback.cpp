// Interposes bind() of the C library. `merganser run` preloads it into jobs whose ranks are all on this host, so that stream
// sockets which would listen on all interfaces listen on the loopback one: Open MPI's mpirun and its component btl/tcp bind to
// all, whatever their settings.
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>

namespace {

/// Returns true if a socket is a stream socket (TCP), the kind whose bind() this preloaded library restricts to loopback.
bool is_stream(int socket) noexcept {
  int type = 0;
  socklen_t bytes = sizeof type;
  return ::getsockopt(socket, SOL_SOCKET, SO_TYPE, &type, &bytes) == 0 && type == SOCK_STREAM;
}

/// Binds a socket to an address by the system call itself: this preloaded library comes before the C library, whose bind() its
/// own one hides. Returns 0, or -1 with errno set.
int system_bind(int socket, const void* address, socklen_t bytes) noexcept {
  return static_cast<int>(::syscall(SYS_bind, socket, address, bytes));
}

}  // namespace

/// Binds a socket as the C library's bind() does, but for stream sockets over IPv4 or IPv6 replaces the address "all
/// interfaces" by the loopback address. Other addresses and sockets are passed on unchanged.
extern "C" __attribute__((visibility("default"))) int bind(int socket, const sockaddr* address,
                                                           socklen_t bytes) noexcept {
  sockaddr_in v4{};
  sockaddr_in6 v6{};
  if (address != nullptr && bytes >= sizeof v4 && address->sa_family == AF_INET && is_stream(socket)) {
    std::memcpy(&v4, address, sizeof v4);
    if (v4.sin_addr.s_addr == htonl(INADDR_ANY)) v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return system_bind(socket, &v4, sizeof v4);
  }
  if (address != nullptr && bytes >= sizeof v6 && address->sa_family == AF_INET6 && is_stream(socket)) {
    std::memcpy(&v6, address, sizeof v6);
    if (std::memcmp(&v6.sin6_addr, &in6addr_any, sizeof in6addr_any) == 0) v6.sin6_addr = in6addr_loopback;
    return system_bind(socket, &v6, sizeof v6);
  }
  return system_bind(socket, address, bytes);
}
