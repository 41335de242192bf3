// Search for the plug-in that was compiled for the MPI of this process, its checks, and its registration.
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

/// Throws UsageError with the reason why use_mpi() cannot open a plug-in.
[[noreturn]] void refuse(const std::string& why) { throw UsageError("use_mpi: " + why); }

/// Formats version and path of a loaded MPI library, for errors of use_mpi().
std::string mpi_text(const LoadedMpi& mpi) { return mpi.version + ", " + mpi.path; }

/// Returns the MPI library that this process has loaded. @throws UsageError unless there is exactly one
LoadedMpi find_only_mpi() {
  const auto all = loaded_mpi();
  if (all.empty()) {
    refuse(
        "no MPI library is loaded in this process; allowed: one, that the program is linked with or that mpi4py has "
        "loaded (import mpi4py.MPI)");
  }
  if (all.size() > 1) {
    refuse(std::to_string(all.size()) + " MPI libraries are loaded in this process: " + joined(all, "; ", mpi_text) +
           "; allowed: one. Communicators of one mean nothing to the other");
  }
  return all.front();
}

/// Label in the file of a plug-in, which names the MPI that the plug-in is for.
struct Label {
  fs::path path;         // of the plug-in's file
  std::string abi;       // binary interface of the MPI that the plug-in is for, as LoadedMpi::abi
  std::string compiled;  // MPI of the mpi.h that the plug-in was compiled with
  std::string version;   // version of merganser that the plug-in belongs to
};

/// Returns the value x of a field "name=x;" in the label of a plug-in, empty without such a field.
std::string parse_field(const std::string& text, const std::string& name) {
  const std::size_t at = text.find(name + '=');
  if (at == std::string::npos) return {};
  const std::size_t begin = at + name.size() + 1;
  return text.substr(begin, text.find(';', begin) - begin);
}

/// Reads the label of a plug-in from its file, since a plug-in for another MPI cannot be opened: its symbols are missing. Returns
/// nothing if the file has no label.
std::optional<Label> read_label(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const std::size_t at = text.find(detail::kPluginMark);
  if (at == std::string::npos) return std::nullopt;
  const std::string mark = text.substr(at, text.find('\0', at) - at);
  return Label{path, parse_field(mark, "abi"), parse_field(mark, "compiled"), parse_field(mark, "merganser")};
}

/// Returns the labels of the plug-ins (libmerganser_*.so) in a folder, ordered by the binary interface of their MPI.
std::vector<Label> list_plugins(const fs::path& folder) {
  std::vector<Label> labels;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder, none)) {
    const std::string name = entry.path().filename();
    if (!name.starts_with("libmerganser_") || !name.ends_with(".so")) continue;
    if (auto label = read_label(entry.path())) labels.push_back(std::move(*label));
  }
  std::sort(labels.begin(), labels.end(), [](const Label& a, const Label& b) { return a.abi < b.abi; });
  return labels;
}

/// Returns the folders in which use_mpi() searches for plug-ins by default, beside the file of this library.
std::vector<fs::path> default_folders() {
  Dl_info here{};
  if (::dladdr(detail::core_mark(), &here) == 0 || here.dli_fname == nullptr) return {};
  std::error_code none;
  fs::path file = fs::absolute(here.dli_fname, none);
  if (const fs::path real = fs::canonical(file, none); !none) file = real;
  return {file.parent_path() / "plugins", file.parent_path() / "merganser" / "plugins"};
}

/// Returns the path of a folder of plug-ins as text, for errors.
std::string path_text(const fs::path& path) { return path.string(); }

/// Formats the error that a plug-in is for another binary interface than that of the MPI in this process.
std::string mismatch(const Label& label, const LoadedMpi& mpi) {
  return "the plug-in " + label.path.string() + " is for the interface '" + label.abi + "' (compiled with " +
         label.compiled + "), but the MPI in this process is " + mpi_text(mpi) + " (interface '" + mpi.abi +
         "'); allowed: libmerganser_" + mpi.abi + ".so";
}

/// Returns the label of the plug-in that comm::use_mpi() is to load, for the MPI of this process: of the file or in the folder
/// `where`, in the default folders if that is empty. @throws UsageError if there is none, with those found
Label choose_plugin(const std::string& where, const LoadedMpi& mpi) {
  std::error_code none;
  if (!where.empty() && fs::is_regular_file(where, none)) {
    const auto label = read_label(where);
    if (!label) refuse(where + " is no plug-in of merganser; the MPI in this process is " + mpi_text(mpi));
    if (label->abi != mpi.abi) refuse(mismatch(*label, mpi));
    return *label;
  }
  const auto folders = where.empty() ? default_folders() : std::vector<fs::path>{where};
  std::vector<Label> there;
  for (const fs::path& folder : folders) {
    for (Label& label : list_plugins(folder)) {
      const bool by_name = label.path.filename() == "libmerganser_" + mpi.abi + ".so";
      if (by_name && label.abi != mpi.abi) refuse(mismatch(label, mpi));
      if (label.abi == mpi.abi) return label;
      there.push_back(std::move(label));
    }
  }
  refuse("no plug-in for " + (mpi.abi.empty() ? "the interface of " : "the interface '" + mpi.abi + "' of ") +
         mpi_text(mpi) + " in " + joined(folders, ", ", path_text) +
         "; there: " + (there.empty() ? "none" : joined(there, ", ", [](const Label& label) {
           return label.path.filename().string() + " (" + label.compiled + ")";
         })));
}

/// Returns the dynamic linker's text for its last failure to open a plug-in or the MPI library.
std::string linker_error() {
  const char* text = ::dlerror();
  return text != nullptr ? text : "unknown reason";
}

/// Opens a plug-in and registers its communication models and kernels. @throws UsageError if it does not match this library and the
/// MPI of this process
void open_plugin(const Label& label, const LoadedMpi& mpi) {
  const std::string both = label.path.string() + " for " + mpi_text(mpi);
  if (label.version != detail::core_version()) {
    refuse("the plug-in " + both + " is of merganser " + label.version + ", this library is " +
           std::string(detail::core_version()) + "; allowed: the same");
  }
  // Python loads extensions, and MPI with them, by RTLD_LOCAL; the plug-in finds MPI's symbols only after this.
  const char* library = mpi.path.find('/') != std::string::npos ? mpi.path.c_str() : nullptr;
  if (::dlopen(library, RTLD_NOLOAD | RTLD_GLOBAL | RTLD_LAZY) == nullptr)
    refuse("the MPI library " + mpi_text(mpi) + " cannot be opened to all: " + linker_error());
  std::unique_ptr<void, int (*)(void*)> handle(::dlopen(label.path.c_str(), RTLD_NOW | RTLD_LOCAL), ::dlclose);
  if (handle == nullptr) refuse("the plug-in " + both + " cannot be opened: " + linker_error());
  const auto* plugin = static_cast<const detail::Plugin*>(::dlsym(handle.get(), "merganser_plugin"));
  if (plugin == nullptr) refuse("the plug-in " + both + " shows nothing: " + linker_error());
  if (plugin->core() != detail::core_mark()) {  // two copies would have two lists of models and two sets of errors
    refuse("the plug-in " + both +
           " has another copy of merganser than this program; allowed: programs that link libmerganser.so");
  }
  if (const std::string says = plugin->mpi->version(); says != mpi.version)
    refuse("the plug-in " + both + " calls another MPI: " + says);
  detail::register_plugin(*plugin, handle.release());
}

/// Finds the MPI of this process and, unless this library was built with MPI, opens the plug-in for it.
MpiInUse find_and_open_plugin(const std::string& where) {
  LoadedMpi mpi = find_only_mpi();
  if (detail::built_in_mpi() != nullptr) return {std::move(mpi), {}, {}};
  const Label label = choose_plugin(where, mpi);
  open_plugin(label, mpi);
  return {std::move(mpi), label.path.string(), label.compiled};
}

}  // namespace

// Binds this library to the program's MPI at run time, once per process: the first call that succeeds decides.
const MpiInUse& use_mpi(const std::string& where) {
  static std::mutex mutex;
  static std::optional<MpiInUse> in_use;
  const std::scoped_lock lock(mutex);
  if (!in_use) in_use = find_and_open_plugin(where);
  return *in_use;
}

}  // namespace merganser::comm
