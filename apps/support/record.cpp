#include "support/record.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <iostream>

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
          {"load_average", m.load_before},
          {"time", utc_time()},
          {"ranks", p.ranks},
          {"model", p.model},
          {"auto_choice", p.choice},
          {"decorators", p.decorators},
          {"decomposition", p.decomposition}};
}

[[noreturn]] void cannot_write(const std::string& path, int error) {
  throw InputError("cannot write " + path + ": " + std::strerror(error));
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
  return {{"messages", c.messages}, {"bytes", c.bytes},
          {"waves", c.waves},       {"puts", c.puts},
          {"gets", c.gets},         {"bytes_got", c.bytes_got},
          {"records", c.records},   {"syncs", c.syncs},
          {"epochs", c.epochs},     {"collectives", c.collectives}};
}

namespace {

/// Writes all of it and closes. @return errno, 0 if all is well
int write_and_close(int fd, const std::string& text, bool flush) {
  int error = 0;
  for (std::size_t done = 0; error == 0 && done < text.size();) {
    const auto n = ::write(fd, text.data() + done, text.size() - done);
    if (n > 0) {
      done += static_cast<std::size_t>(n);
    } else if (n == 0 || errno != EINTR) {
      error = n == 0 ? EIO : errno;
    }
  }
  if (error == 0 && flush && ::fsync(fd) != 0 && errno != EINVAL) error = errno;
  if (::close(fd) != 0 && error == 0) error = errno;
  return error;
}

}  // namespace

void write_text_file(const std::string& path, const std::string& text) {
  if (path == "-") {
    std::cout << text;
    return;
  }
  struct stat s {};
  const bool exists = ::stat(path.c_str(), &s) == 0;
  if (exists && S_ISDIR(s.st_mode)) cannot_write(path, EISDIR);
  // A pipe or a device takes the text itself: renaming would put a file in its place.
  const bool whole = !exists || S_ISREG(s.st_mode);
  std::error_code ignored;
  const std::string real = std::filesystem::weakly_canonical(path, ignored).string();  // links are written through
  const std::string target = ignored || real.empty() ? path : real;
  const std::string written = whole ? target + ".tmp" + std::to_string(::getpid()) : path;
  const int fd = ::open(written.c_str(), O_WRONLY | O_CLOEXEC | (whole ? O_CREAT | O_TRUNC : 0), 0666);
  if (fd < 0) cannot_write(path, errno);
  int error = write_and_close(fd, text, whole);
  if (whole && error == 0 && std::rename(written.c_str(), target.c_str()) != 0) error = errno;
  if (whole && error != 0) ::unlink(written.c_str());
  if (error != 0) cannot_write(path, error);
}

void check_writable(const std::string& path) {
  if (path.empty() || path == "-") return;
  struct stat s {};
  if (::stat(path.c_str(), &s) == 0) {
    if (S_ISDIR(s.st_mode)) cannot_write(path, EISDIR);
    if (!S_ISREG(s.st_mode) && ::access(path.c_str(), W_OK) != 0) cannot_write(path, errno);
    return;  // a plain file is replaced by another
  }
  const std::string folder = std::filesystem::path(path).parent_path().string();
  if (::access(folder.empty() ? "." : (folder + "/.").c_str(), W_OK | X_OK) != 0) cannot_write(path, errno);
}

void write_record(const std::string& path, const Json& record) { write_text_file(path, json_text(record, 1) + '\n'); }

}  // namespace merganser::app
