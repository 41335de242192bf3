#include "merganser/comm/open.hpp"

#include "merganser/capi/transport.h"
#include "merganser/comm/plugins.hpp"
#include "src/capi/objects.hpp"

namespace merganser::capi {
namespace {

comm::OpenOptions options_of(const mg_open_options* given) {
  const auto record = read_options(given, "options");
  comm::OpenOptions options;
  options.backend = text_or(record.backend, "auto");
  options.decorators = text_or(record.decorators, "");
  return options;
}

}  // namespace
}  // namespace merganser::capi

using namespace merganser;
using namespace merganser::capi;

extern "C" {

int mg_open_fortran(int communicator, const mg_open_options* options, mg_transport** transport) {
  return guard([&] {
    need(transport, "transport");
    make<TransportObject>(transport, comm::open(communicator, options_of(options)));
  });
}

int mg_use_mpi(const char* where) {
  return guard([&] { (void)comm::use_mpi(text_or(where, "")); });
}

int mg_open_alone(mg_transport** transport) {
  return guard([&] {
    need(transport, "transport");
    make<TransportObject>(transport, comm::open_alone());
  });
}

int mg_transport_choice(mg_transport* transport, const char** choice) {
  return guard<TransportObject>(transport, [&](TransportObject& object) {
    need(choice, "choice");
    *choice = object.choice();
  });
}

}  // extern "C"
