// Network switch with a delay, for emulated hosts: forward DELAY_NS INTERFACE... forwards every frame after the delay, and learns
// the port of each address. A frame is due at the kernel's time of receipt plus the delay, so scheduling of this program does not
// add to it. A line "cut N" on standard input cuts port N (from 0) off. On SIGTERM it prints the number of forwarded frames and
// their lateness: "frames N late_us MEDIAN MAX".
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/virtio_net.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { kPorts = 256, kFrame = 70000, kWaiting = 65536, kBuckets = 4096, kBucketNs = 1000, kEarlyNs = 20000 };

// Ethernet frame that waits for its due time (nanoseconds of CLOCK_REALTIME), with the port at which it arrived.
struct Frame {
  int64_t due;
  int from;
  int size;
  unsigned char *bytes;  // a virtio_net_hdr, then the frame
};

// Entry of the switch's table: Ethernet address of a host, and the port behind which it was last seen.
struct Address {
  unsigned char bytes[ETH_ALEN];
  int port;
};

static struct Frame waiting[kWaiting];  // a ring, in the order of due times
static unsigned long first, end;
static int sockets[kPorts];
static int ports;
static int is_cut[kPorts];
static struct Address known[4 * kPorts];
static int addresses;
static long late[kBuckets];  // frames by how late they were, in microseconds
static long frames, dropped;
static int64_t latest;
static volatile sig_atomic_t stopped;

// Signal handler of SIGTERM: ends the loop of the switch after this round, so that the statistics are printed.
static void stop(int signal) {
  (void)signal;
  stopped = 1;
}

static int64_t clock_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

// Ends the switch with "forward: WHAT: reason" of errno.
static void die(const char *what) {
  fprintf(stderr, "forward: %s: %s\n", what, strerror(errno));
  exit(1);
}

// Opens a packet socket, one port of the switch, that receives all frames of a network interface with the time of their receipt.
static int open_port(const char *name) {
  const int s = socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (s < 0) die("a socket for frames");
  const int one = 1, room = 16 << 20;
  // With the header of offloads, the kernel cuts a segment that the sender left to its network card, which is too long to be
  // forwarded.
  if (setsockopt(s, SOL_PACKET, PACKET_VNET_HDR, &one, sizeof one) != 0) die("PACKET_VNET_HDR");
  if (setsockopt(s, SOL_PACKET, PACKET_IGNORE_OUTGOING, &one, sizeof one) != 0) die("PACKET_IGNORE_OUTGOING");
  if (setsockopt(s, SOL_SOCKET, SO_TIMESTAMPNS, &one, sizeof one) != 0) die("SO_TIMESTAMPNS");
  if (setsockopt(s, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof room) != 0)
    setsockopt(s, SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
  struct sockaddr_ll at = {.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL)};
  at.sll_ifindex = (int)if_nametoindex(name);
  if (at.sll_ifindex == 0 || bind(s, (struct sockaddr *)&at, sizeof at) != 0) die(name);
  return s;
}

// Stores behind which port of the switch frames with this source address arrive.
static void learn_port(const unsigned char *address, int port) {
  for (int i = 0; i < addresses; ++i)
    if (memcmp(known[i].bytes, address, ETH_ALEN) == 0) {
      known[i].port = port;
      return;
    }
  if (addresses == (int)(sizeof known / sizeof *known)) return;  // the table is full: frames to this address are flooded
  memcpy(known[addresses].bytes, address, ETH_ALEN);
  known[addresses++].port = port;
}

// Returns the port of the switch behind which an Ethernet address was seen; -1: none, so that the frame goes to all ports.
static int port_of(const unsigned char *address) {
  for (int i = 0; i < addresses; ++i)
    if (memcmp(known[i].bytes, address, ETH_ALEN) == 0) return known[i].port;
  return -1;
}

// Inserts a frame and keeps the ring ordered by due time: receipts of different ports may be slightly out of order.
static void insert_frame(struct Frame frame) {
  unsigned long at = end++;
  while (at > first && waiting[(at - 1) % kWaiting].due > frame.due) {
    waiting[at % kWaiting] = waiting[(at - 1) % kWaiting];
    --at;
  }
  waiting[at % kWaiting] = frame;
}

// Receives one frame at a port of the switch, if there is one, and lets it wait until its time of receipt plus the delay. Returns
// 1 if there was one. A frame is dropped where the ring is full.
static int receive_frame(int port, int64_t delay) {
  static unsigned char bytes[kFrame];
  char control[256];
  struct iovec part = {bytes, sizeof bytes};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
  const ssize_t got = recvmsg(sockets[port], &message, MSG_DONTWAIT);
  if (got < (ssize_t)(sizeof(struct virtio_net_hdr) + ETH_HLEN)) return got > 0;
  struct Frame frame = {clock_ns(), port, (int)got, NULL};
  for (struct cmsghdr *c = CMSG_FIRSTHDR(&message); c != NULL; c = CMSG_NXTHDR(&message, c))
    if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_TIMESTAMPNS) {
      struct timespec t;
      memcpy(&t, CMSG_DATA(c), sizeof t);
      frame.due = (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
    }
  frame.due += delay;
  frame.bytes = end - first < kWaiting ? malloc((size_t)got) : NULL;
  if (frame.bytes == NULL) {
    ++dropped;  // as a switch with a full queue does
    return 1;
  }
  memcpy(frame.bytes, bytes, (size_t)got);
  insert_frame(frame);
  return 1;
}

// Sends a frame out of a port of the switch; waits for space in the kernel's queue for up to 100 ms, then drops it.
static void send_to(int port, const struct Frame *frame) {
  for (int tries = 0; send(sockets[port], frame->bytes, (size_t)frame->size, 0) < 0; ++tries) {
    if ((errno != EAGAIN && errno != ENOBUFS && errno != EINTR) || tries == 100) {
      if (errno != ENETDOWN && errno != ENXIO) ++dropped;  // a host that is cut off loses them silently
      return;
    }
    struct pollfd room = {sockets[port], POLLOUT, 0};
    poll(&room, 1, 1);
  }
}

// Forwards a due frame to the port of its destination, or to all others for a multicast or unknown one, and counts its lateness.
static void forward_frame(const struct Frame *frame) {
  const unsigned char *ethernet = frame->bytes + sizeof(struct virtio_net_hdr);
  if (is_cut[frame->from]) return;
  learn_port(ethernet + ETH_ALEN, frame->from);
  const int to = (ethernet[0] & 1) != 0 ? -1 : port_of(ethernet);
  for (int port = 0; port < ports; ++port)
    if (port != frame->from && (to < 0 || to == port) && !is_cut[port]) send_to(port, frame);
  const int64_t over = clock_ns() - frame->due;
  const int64_t bucket = over < 0 ? 0 : over / kBucketNs;
  ++late[bucket < kBuckets ? bucket : kBuckets - 1];
  if (over > latest) latest = over;
  ++frames;
}

// Sleeps until a frame arrives, a command comes, or the first waiting frame is due within kEarlyNs; at most 200 ms.
static void wait_for_work(struct pollfd *ready) {
  struct timespec limit = {0, 200000000};
  if (first != end) {
    const int64_t left = waiting[first % kWaiting].due - clock_ns() - kEarlyNs;
    if (left <= 0) {  // due within kEarlyNs: sleeping would make it late
      limit.tv_nsec = 0;
    } else if (left < limit.tv_nsec) {
      limit.tv_nsec = left;
    }
  }
  ppoll(ready, (nfds_t)ports + 1, &limit, NULL);
}

// Reads a command from standard input: "cut N" cuts port N off, from and to which no frame is forwarded any more.
static void read_command(struct pollfd *orders) {
  char line[32];
  const ssize_t n = read(orders->fd, line, sizeof line - 1);
  int port = -1;
  line[n > 0 ? n : 0] = '\0';
  if (n <= 0) orders->fd = -1;  // standard input is closed: no more commands
  if (sscanf(line, "cut %d", &port) == 1 && port >= 0 && port < ports) is_cut[port] = 1;
}

// Prints the statistics of the switch: frames forwarded, median and greatest lateness in microseconds, frames dropped.
static void report(void) {
  long seen = 0;
  int median = 0;
  for (; median < kBuckets && (seen += late[median]) * 2 < frames; ++median) continue;
  printf("frames %ld late_us %d %ld dropped %ld\n", frames, median, (long)(latest / 1000), dropped);
}

int main(int count, char **words) {
  if (count < 3 || count - 2 > kPorts) {
    fprintf(stderr, "usage: forward DELAY_NS INTERFACE...\n");
    return 2;
  }
  prctl(PR_SET_TIMERSLACK, 1);
  const struct sched_param soon = {.sched_priority = 1};
  sched_setscheduler(0, SCHED_FIFO, &soon);  // if it is allowed, since a late frame adds to the delay
  signal(SIGTERM, stop);
  signal(SIGINT, SIG_IGN);
  const int64_t delay = atoll(words[1]);
  struct pollfd ready[kPorts + 1];  // the last: orders
  ports = count - 2;
  for (int i = 0; i < ports; ++i) {
    sockets[i] = open_port(words[2 + i]);
    ready[i] = (struct pollfd){sockets[i], POLLIN, 0};
  }
  ready[ports] = (struct pollfd){STDIN_FILENO, POLLIN, 0};
  while (!stopped) {
    wait_for_work(ready);
    if (ready[ports].revents != 0) read_command(&ready[ports]);
    for (int i = 0; i < ports; ++i)
      for (int n = 0; n < 64 && receive_frame(i, delay); ++n) continue;
    while (first != end && waiting[first % kWaiting].due <= clock_ns()) {
      struct Frame *frame = &waiting[first++ % kWaiting];
      forward_frame(frame);
      free(frame->bytes);
    }
  }
  report();
  return 0;
}
