#include "support/record.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <sstream>

#include "merganser/base/error.hpp"
#include "merganser/comm/runtime.hpp"
#include "support/provenance.hpp"

namespace merganser::app {
namespace {

Json provenance_json(const Placement& p) {
  const BuildInfo b = build_info();
  const Machine m = machine();
  return {{"version", b.version},
          {"git", b.git},
          {"compiler", b.compiler},
          {"flags", b.flags},
          {"build_type", b.build_type},
          {"mpi", comm::mpi_library()},
          {"openshmem", comm::shmem_library()},
          {"cpu", m.cpu},
          {"cores", m.cores},
          {"vectors", m.vectors},
          {"memory_bytes", m.memory_bytes},
          {"kernel", m.kernel},
          {"load_average", m.load},
          {"time", utc_time()},
          {"ranks", p.ranks},
          {"model", p.model},
          {"auto_choice", p.choice},
          {"decorators", p.decorators},
          {"decomposition", p.decomposition}};
}

[[noreturn]] void cannot_write(const std::string& path) {
  throw InputError("cannot write " + path + ": " + std::strerror(errno));
}

}  // namespace

Json options_json(const OptionTable& table) {
  Json out = Json::object();
  for (const auto& o : table.options()) out[o.name] = std::visit([](const auto& v) { return Json(v); }, o.value());
  return out;
}

Json make_record(const Invocation& in, const Placement& placement) {
  Json r;
  r["schema"] = "merganser-run-record";
  r["schema_version"] = kRecordVersion;
  r["command"] = in.command;
  r["arguments"] = std::vector<std::string>(in.arguments.begin(), in.arguments.end());
  r["options"] = options_json(in.table);
  r["provenance"] = provenance_json(placement);
  return r;
}

Json summary_json(const Summary& s) {
  return {{"min", s.min}, {"median", s.median}, {"mean", s.mean}, {"max", s.max}, {"count", s.count}};
}

Json counters_json(const comm::Counters& c) {
  return {{"messages", c.messages}, {"bytes", c.bytes},   {"waves", c.waves},
          {"puts", c.puts},         {"gets", c.gets},     {"records", c.records},
          {"syncs", c.syncs},       {"epochs", c.epochs}, {"collectives", c.collectives}};
}

void write_text_file(const std::string& path, const std::string& text) {
  if (path == "-") {
    std::cout << text;
    return;
  }
  const std::string temporary = path + ".tmp" + std::to_string(::getpid());
  const int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0) cannot_write(path);
  std::size_t done = 0;
  bool good = true;
  while (good && done < text.size()) {
    const auto n = ::write(fd, text.data() + done, text.size() - done);
    if (n < 0 && errno == EINTR) continue;
    good = n > 0;
    if (good) done += static_cast<std::size_t>(n);
  }
  good = good && ::fsync(fd) == 0;
  const int error = errno;
  ::close(fd);
  if (!good || std::rename(temporary.c_str(), path.c_str()) != 0) {
    if (!good) errno = error;
    const int kept = errno;
    ::unlink(temporary.c_str());
    errno = kept;
    cannot_write(path);
  }
}

void write_record(const std::string& path, const Json& record) { write_text_file(path, record.dump(1) + '\n'); }

Json read_json(const std::string& path) {
  std::ifstream in(path);
  if (!in) throw InputError("cannot read " + path + ": " + std::strerror(errno));
  std::stringstream text;
  text << in.rdbuf();
  try {
    return Json::parse(text.str());
  } catch (const Json::exception& e) {
    throw InputError(path + " is not JSON: " + e.what());
  }
}

}  // namespace merganser::app
