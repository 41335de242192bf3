#include "merganser/comm/plugins.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>

#include "merganser/base/error.hpp"
#include "merganser/base/text.hpp"
#include "src/comm/detail/plugin.hpp"

namespace merganser::comm {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const std::string& why) { throw UsageError("use_mpi: " + why); }

std::string named(const LoadedMpi& mpi) { return mpi.version + ", " + mpi.path; }

/// The one MPI of this process.
LoadedMpi the_mpi() {
  const auto all = loaded_mpi();
  if (all.empty()) {
    refuse(
        "no MPI library is loaded in this process; allowed: one, that the program is linked with or that mpi4py has "
        "loaded (import mpi4py.MPI)");
  }
  if (all.size() > 1) {
    refuse(std::to_string(all.size()) + " MPI libraries are loaded in this process: " + joined(all, "; ", named) +
           "; allowed: one. Communicators of one mean nothing to the other");
  }
  return all.front();
}

/// What the file of a plug-in says of itself.
struct Label {
  fs::path path;
  std::string abi;
  std::string compiled;
  std::string version;
};

/// "x" of "name=x;" in a text.
std::string field(const std::string& text, const std::string& name) {
  const std::size_t at = text.find(name + '=');
  if (at == std::string::npos) return {};
  const std::size_t begin = at + name.size() + 1;
  return text.substr(begin, text.find(';', begin) - begin);
}

/// Read without opening it as a library: one for another MPI has symbols that are not here.
std::optional<Label> label_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const std::size_t at = text.find(detail::kPluginMark);
  if (at == std::string::npos) return std::nullopt;
  const std::string mark = text.substr(at, text.find('\0', at) - at);
  return Label{path, field(mark, "abi"), field(mark, "compiled"), field(mark, "merganser")};
}

std::vector<Label> plugins_in(const fs::path& folder) {
  std::vector<Label> labels;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder, none)) {
    const std::string name = entry.path().filename();
    if (!name.starts_with("libmerganser_") || !name.ends_with(".so")) continue;
    if (auto label = label_of(entry.path())) labels.push_back(std::move(*label));
  }
  std::sort(labels.begin(), labels.end(), [](const Label& a, const Label& b) { return a.abi < b.abi; });
  return labels;
}

/// Where plug-ins are looked for if nobody says where.
std::vector<fs::path> usual_folders() {
  Dl_info here{};
  if (::dladdr(detail::core_mark(), &here) == 0 || here.dli_fname == nullptr) return {};
  std::error_code none;
  fs::path file = fs::absolute(here.dli_fname, none);
  if (const fs::path real = fs::canonical(file, none); !none) file = real;
  return {file.parent_path() / "plugins", file.parent_path() / "merganser" / "plugins"};
}

std::string path_text(const fs::path& path) { return path.string(); }

std::string mismatch(const Label& label, const LoadedMpi& mpi) {
  return "the plug-in " + label.path.string() + " is for the interface '" + label.abi + "' (compiled with " +
         label.compiled + "), but the MPI in this process is " + named(mpi) + " (interface '" + mpi.abi +
         "'); allowed: libmerganser_" + mpi.abi + ".so";
}

/// The plug-in that fits, by the label in its file.
Label choose(const std::string& where, const LoadedMpi& mpi) {
  std::error_code none;
  if (!where.empty() && fs::is_regular_file(where, none)) {
    const auto label = label_of(where);
    if (!label) refuse(where + " is no plug-in of merganser; the MPI in this process is " + named(mpi));
    if (label->abi != mpi.abi) refuse(mismatch(*label, mpi));
    return *label;
  }
  const auto folders = where.empty() ? usual_folders() : std::vector<fs::path>{where};
  std::vector<Label> there;
  for (const fs::path& folder : folders) {
    for (Label& label : plugins_in(folder)) {
      const bool by_name = label.path.filename() == "libmerganser_" + mpi.abi + ".so";
      if (by_name && label.abi != mpi.abi) refuse(mismatch(label, mpi));
      if (label.abi == mpi.abi) return label;
      there.push_back(std::move(label));
    }
  }
  refuse("no plug-in for " + (mpi.abi.empty() ? "the interface of " : "the interface '" + mpi.abi + "' of ") +
         named(mpi) + " in " + joined(folders, ", ", path_text) +
         "; there: " + (there.empty() ? "none" : joined(there, ", ", [](const Label& label) {
           return label.path.filename().string() + " (" + label.compiled + ")";
         })));
}

/// What the dynamic linker says of its last failure.
std::string linker_text() {
  const char* text = ::dlerror();
  return text != nullptr ? text : "unknown reason";
}

/// Opens the plug-in and takes it, unless it is not what it must be.
void take(const Label& label, const LoadedMpi& mpi) {
  const std::string both = label.path.string() + " for " + named(mpi);
  if (label.version != detail::core_version()) {
    refuse("the plug-in " + both + " is of merganser " + label.version + ", this library is " +
           std::string(detail::core_version()) + "; allowed: the same");
  }
  // Python loads extensions, and MPI with them, for themselves alone.
  const char* library = mpi.path.find('/') != std::string::npos ? mpi.path.c_str() : nullptr;
  if (::dlopen(library, RTLD_NOLOAD | RTLD_GLOBAL | RTLD_LAZY) == nullptr)
    refuse("the MPI library " + named(mpi) + " cannot be opened to all: " + linker_text());
  std::unique_ptr<void, int (*)(void*)> handle(::dlopen(label.path.c_str(), RTLD_NOW | RTLD_LOCAL), ::dlclose);
  if (handle == nullptr) refuse("the plug-in " + both + " cannot be opened: " + linker_text());
  const auto* plugin = static_cast<const detail::Plugin*>(::dlsym(handle.get(), "merganser_plugin"));
  if (plugin == nullptr) refuse("the plug-in " + both + " shows nothing: " + linker_text());
  if (plugin->core() != detail::core_mark()) {
    refuse("the plug-in " + both +
           " has another copy of merganser than this program; allowed: programs that link libmerganser.so");
  }
  if (const std::string says = plugin->mpi->version(); says != mpi.version)
    refuse("the plug-in " + both + " calls another MPI: " + says);
  detail::plug_in(*plugin, handle.release());
}

MpiInUse find_and_take(const std::string& where) {
  LoadedMpi mpi = the_mpi();
  if (detail::built_in_mpi() != nullptr) return {std::move(mpi), {}, {}};
  const Label label = choose(where, mpi);
  take(label, mpi);
  return {std::move(mpi), label.path.string(), label.compiled};
}

}  // namespace

const MpiInUse& use_mpi(const std::string& where) {
  static std::mutex mutex;
  static std::optional<MpiInUse> in_use;
  const std::scoped_lock lock(mutex);
  if (!in_use) in_use = find_and_take(where);
  return *in_use;
}

}  // namespace merganser::comm
