// Check of an HDF5 file for references to other files and for filters that need plug-ins, without the HDF5 library.
#include "src/io/hdf5/references.hpp"

#include <algorithm>
#include <array>
#include <unordered_set>
#include <utility>
#include <vector>

#include "merganser/base/error.hpp"
#include "merganser/base/text.hpp"
#include "src/io/hdf5/links.hpp"

namespace merganser::io::hdf5 {
namespace {

constexpr std::size_t kMaxObjects = std::size_t{1} << 22;

/// Numbers of the HDF5 messages, in the header of a group or dataset, that the check of references reads.
enum Message : std::uint64_t {
  kLinkInfo = 0x02,
  kLink = 0x06,
  kExternalFiles = 0x07,
  kLayout = 0x08,
  kFilters = 0x0b,
  kContinuation = 0x10,
  kSymbolTable = 0x11,
  kDriver = 0x14
};

/// Check of one HDF5 file for references to other files, by a depth-first traversal of its groups and datasets. Every address
/// is visited once, so that links which form a cycle end the traversal, and all counts are bounded, so that a damaged file
/// cannot prolong it.
class ReferenceCheck {
 public:
  explicit ReferenceCheck(const std::string& path) : file_(path) {}

  /// Visits all groups and datasets of the HDF5 file. @throws InputError for a reference to another file
  void run() {
    read_superblock();
    while (!waiting_.empty()) {
      const PendingObject next = std::move(waiting_.back());
      waiting_.pop_back();
      visit_object(next);
    }
  }

  /// Returns the names of the root group's members, but soft links. @throws InputError for a damaged file
  std::vector<std::string> list_root() {
    read_superblock();
    if (waiting_.empty()) return {};
    const PendingObject root = std::move(waiting_.back());  // enqueued last
    waiting_.clear();
    visit_object(root);
    std::vector<std::string> names;
    for (const PendingObject& member : waiting_) names.push_back(member.name);
    return names;
  }

 private:
  /// Group or dataset of the HDF5 file that the check of references is still to visit.
  struct PendingObject {
    std::uint64_t at;
    std::string name;  ///< path with its groups
  };
  /// Block of messages of an HDF5 object header: its address in the file and size in bytes.
  struct Chunk {
    std::uint64_t at;
    std::uint64_t size;
  };

  /// Throws InputError "PATH: WHAT; allowed: files that hold all of their data", for a reference of HDF5 to another file.
  [[noreturn]] void refuse(const std::string& what) const {
    throw InputError(file_.path() + ": " + what + "; allowed: files that hold all of their data");
  }
  static std::string quoted(std::string_view text) { return '"' + std::string(text.substr(0, 200)) + '"'; }

  /// Reads the superblock of the HDF5 file (versions 0 to 3): sets the widths of addresses and enqueues the root group.
  void read_superblock() {
    Cursor c = file_.at(0, 9, "\x89HDF\r\n\x1a\n");
    const std::uint8_t version = c.byte();
    if (version > 3) throw_damaged(file_.path(), "its version is " + std::to_string(version));
    if (version >= 2) {
      c = file_.at(9, 2);
      set_widths(c.byte(), c.byte());
      c = file_.at(12, 4 * widths_.address);
      c.skip(widths_.address);
      if (const std::uint64_t more = c.address(widths_.address); more != kNowhere) enqueue(more, "the superblock");
      c.skip(widths_.address);
      return enqueue(c.address(widths_.address), "");
    }
    c = file_.at(13, 2);
    set_widths(c.byte(), c.byte());
    const std::uint64_t at = version == 0 ? 24 : 28;
    c = file_.at(at, 6 * widths_.address);
    c.skip(3 * widths_.address);
    if (c.address(widths_.address) != kNowhere)
      refuse("it is one of several parts of a file (HDF5 driver information)");
    c.skip(widths_.address);  // name of the root
    enqueue(c.address(widths_.address), "");
  }

  /// Sets the widths in bytes of the HDF5 file's address and length fields. @throws InputError unless each is 2, 4 or 8
  void set_widths(std::uint8_t address, std::uint8_t length) {
    const auto good = [](std::uint8_t n) { return n == 2 || n == 4 || n == 8; };
    if (!good(address) || !good(length)) throw_damaged(file_.path(), "addresses of a width that HDF5 does not have");
    widths_ = {address, length};
  }

  /// Adds a group or dataset of the HDF5 file to those to be visited, unless it was added before. @param name  its path, for
  /// messages
  void enqueue(std::uint64_t at, std::string name) {
    if (at == kNowhere) throw_damaged(file_.path(), "an object without a place");
    if (!seen_.insert(at).second) return;
    if (seen_.size() > kMaxObjects) throw_damaged(file_.path(), "more objects than any file has");
    waiting_.push_back({at, std::move(name)});
  }

  // Headers of objects

  /// Visits all messages of an object header, of version 1 (in old files) or 2, and of its continuation blocks.
  void visit_object(const PendingObject& of) {
    const bool old = file_.at(of.at, 4).text(4) != "OHDR";
    std::vector<Chunk> chunks;
    bool ordered = false;  // headers of messages hold the order of creation, two bytes more
    if (old) {
      Cursor c = file_.at(of.at, 16);
      if (c.byte() != 1) throw_damaged(file_.path(), "an object of an unknown version");
      c.skip(7);
      chunks.push_back({of.at + 16, c.number(4)});
    } else {
      Cursor c = file_.at(of.at, 6);
      c.skip(4);
      if (c.byte() != 2) throw_damaged(file_.path(), "an object of an unknown version");
      const std::uint8_t flags = c.byte();
      const std::uint64_t begin = of.at + 6 + ((flags & 0x20U) != 0 ? 16 : 0) + ((flags & 0x10U) != 0 ? 4 : 0);
      const std::size_t bytes = std::size_t{1} << (flags & 3U);
      ordered = (flags & 4U) != 0;
      chunks.push_back({begin + bytes, file_.at(begin, bytes).number(bytes)});
    }
    for (std::size_t i = 0; i < chunks.size(); ++i) {  // by index: continuation messages append chunks
      if (i > 4096) throw_damaged(file_.path(), "an object in too many pieces");
      visit_messages(of, chunks[i], old, ordered, chunks);
    }
  }

  /// Visits the messages of one block of an HDF5 object header.
  void visit_messages(const PendingObject& of, Chunk chunk, bool old, bool ordered, std::vector<Chunk>& chunks) {
    std::vector<std::byte> held;  // a copy: visiting a message may read the file, which overwrites the block
    Cursor c = copy(file_.at(chunk.at, chunk.size), held);
    const std::size_t head = old ? 8 : ordered ? 6 : 4;
    while (c.left() >= head) {
      const std::uint64_t type = c.number(old ? 2 : 1);
      const std::uint64_t size = c.number(2);
      const std::uint8_t flags = c.byte();
      c.skip(old ? 3 : ordered ? 2 : 0);
      Cursor body = c.part(size);
      if ((flags & 2U) != 0) {  // shared: the message itself is stored elsewhere, for several objects
        if (type == kFilters || type == kLayout || type == kExternalFiles || type == kLink)
          refuse("variable " + quoted(of.name) + " is described in a place of its own");
        continue;
      }
      visit_message(of, type, body, old, chunks);
    }
  }

  /// Copies the bytes of an HDF5 block to `held` and returns a cursor over the copy, which further reads of the file keep valid.
  static Cursor copy(Cursor from, std::vector<std::byte>& held) {
    const std::string_view text = from.text(from.left());
    const auto* const begin = reinterpret_cast<const std::byte*>(text.data());
    held.assign(begin, begin + text.size());
    return {from.path(), held};
  }

  /// Visits a message of an HDF5 object header: links are followed, external files, virtual layouts and filters refused.
  void visit_message(const PendingObject& of, std::uint64_t type, Cursor body, bool old, std::vector<Chunk>& chunks) {
    switch (type) {
      case kContinuation: {
        const std::uint64_t at = body.address(widths_.address);
        const std::uint64_t size = body.number(widths_.length);
        if (old) return chunks.push_back({at, size});
        static_cast<void>(file_.at(at, 4, "OCHK"));
        if (size < 8) throw_damaged(file_.path(), "a piece of an object that is too short");
        return chunks.push_back({at + 4, size - 8});
      }
      case kLink:
        return visit_link(of, body);
      case kLinkInfo:
        return visit_dense_links(of, body);
      case kSymbolTable:
        return visit_symbol_table(of, body);
      case kExternalFiles:
        refuse("variable " + quoted(of.name) + ": its values are in another file, " + external_file_name(body) +
               " (HDF5 external storage)");
      case kLayout:
        return check_layout(of, body);
      case kFilters:
        return check_filters(of, body);
      case kDriver:
        refuse("it is one of several parts of a file (HDF5 driver information)");
      default:
        return;
    }
  }

  // References to other files

  /// Returns the quoted name of the first file in an HDF5 message of external storage, or "none", for the refusal.
  std::string external_file_name(Cursor body) {
    body.skip(4);
    body.skip(2);
    const std::uint64_t used = body.number(2);
    const std::uint64_t heap = body.address(widths_.address);
    return used == 0 ? "none" : quoted(read_heap_string(heap, body.number(widths_.length)));
  }

  /// Refuses an HDF5 dataset whose layout message says that it is virtual, made of datasets of other files.
  void check_layout(const PendingObject& of, Cursor body) {
    const std::uint8_t version = body.byte();
    if (version < 3) body.skip(1);
    const std::uint8_t kind = body.byte();
    if (kind == 3)
      refuse("variable " + quoted(of.name) +
             ": its values are those of variables of other files (HDF5 virtual dataset)");
    if (version < 1 || version > 5 || kind > 3)
      throw_damaged(file_.path(), "variable " + of.name + " is stored in an unknown way");
  }

  /// Refuses an HDF5 dataset with a filter that is not built in: HDF5 would load its code as a plug-in, from a folder that the
  /// environment may name.
  void check_filters(const PendingObject& of, Cursor body) {
    static constexpr std::array<std::uint64_t, 6> kBuiltIn{1, 2, 3, 4,
                                                           5, 6};  // deflate shuffle fletcher32 szip nbit scaleoffset
    const std::uint8_t version = body.byte();
    const std::uint8_t count = body.byte();
    if (version == 1) body.skip(6);
    for (int i = 0; i < count; ++i) {
      const std::uint64_t id = body.number(2);
      const bool named = version == 1 || id >= 256;
      const std::uint64_t name = named ? body.number(2) : 0;
      body.skip(2);
      const std::uint64_t values = body.number(2);
      if (std::find(kBuiltIn.begin(), kBuiltIn.end(), id) == kBuiltIn.end())
        throw InputError(file_.path() + ": variable " + quoted(of.name) + ": packed by filter " + std::to_string(id) +
                         ", for which HDF5 would load a plug-in; allowed: deflate, shuffle, fletcher32 and szip, as "
                         "nccopy -F none gives them");
      body.skip(version == 1 ? (name + 7) / 8 * 8 : name);
      body.skip(4 * values + (version == 1 && values % 2 != 0 ? 4 : 0));
    }
  }

  // Links

  /// Visits a link message of an HDF5 group: enqueues the target of a hard link, ignores a soft one, refuses an external one.
  void visit_link(const PendingObject& of, Cursor body) {
    if (body.byte() != 1) throw_damaged(file_.path(), "a link of an unknown version");
    const std::uint8_t flags = body.byte();
    const std::uint8_t kind = (flags & 8U) != 0 ? body.byte() : 0;
    if ((flags & 4U) != 0) body.skip(8);
    if ((flags & 0x10U) != 0) body.skip(1);
    const std::uint64_t length = body.number(std::size_t{1} << (flags & 3U));
    const std::string name = join_path(of, body.text(length));
    if (kind == 0) return enqueue(body.address(widths_.address), name);
    if (kind == 1) return;  // soft link, a path within the file: its target is visited through a hard link
    if (kind != 64)
      refuse("link " + quoted(name) + " is one that a plug-in follows (HDF5 user-defined link " + std::to_string(kind) +
             ')');
    Cursor value = body.part(body.number(2));
    value.skip(std::min<std::size_t>(1, value.left()));
    const std::string_view text = value.text(value.left());
    refuse("link " + quoted(name) + " leads to another file, " + quoted(text.substr(0, text.find('\0'))) +
           " (HDF5 external link)");
  }

  /// Returns the path of an HDF5 group's member, "GROUP/NAME", for messages.
  static std::string join_path(const PendingObject& of, std::string_view name) {
    return of.name.empty() ? std::string(name) : of.name + '/' + std::string(name);
  }

  /// Visits the links of an HDF5 group in dense storage, in a fractal heap, by its indices of names and of creation order.
  void visit_dense_links(const PendingObject& of, Cursor body) {
    body.skip(1);
    const std::uint8_t flags = body.byte();
    if ((flags & 1U) != 0) body.skip(8);
    const std::uint64_t heap_at = body.address(widths_.address);
    std::array<std::uint64_t, 2> indices{body.address(widths_.address),
                                         (flags & 2U) != 0 ? body.address(widths_.address) : kNowhere};
    if (heap_at == kNowhere) return;
    FractalHeap heap(file_, widths_, heap_at);
    for (const std::uint64_t index : indices) {
      if (index == kNowhere) continue;
      for_each_record(file_, widths_, index, [&](Cursor id) {
        std::vector<std::byte> held;
        visit_link(of, copy(heap.read_object(id), held));
      });
    }
  }

  /// Visits the links of an old HDF5 group: a version 1 B-tree of symbol nodes whose names are in a local heap.
  void visit_symbol_table(const PendingObject& of, Cursor body) {
    const std::uint64_t tree = body.address(widths_.address);
    const std::uint64_t heap = body.address(widths_.address);
    std::vector<Chunk> nodes{{tree, 0}};
    std::unordered_set<std::uint64_t> known;
    while (!nodes.empty()) {
      const std::uint64_t at = nodes.back().at;
      nodes.pop_back();
      if (!known.insert(at).second) continue;
      if (file_.at(at, 4).text(4) == "SNOD")
        visit_symbol_node(of, at, heap);
      else
        for (const std::uint64_t child : child_nodes(at)) nodes.push_back({child, 0});
    }
  }

  /// Returns the addresses of the children of a node of an HDF5 group's version 1 B-tree.
  std::vector<std::uint64_t> child_nodes(std::uint64_t tree) {
    const std::uint64_t head = 8 + 2 * widths_.address;
    Cursor c = file_.at(tree, head, "TREE");
    if (c.byte() != 0) throw_damaged(file_.path(), "a group whose index is that of something else");
    c.skip(1);
    const std::uint64_t count = c.number(2);
    c = file_.at(tree + head, count * (widths_.length + widths_.address));
    std::vector<std::uint64_t> out;
    for (std::uint64_t i = 0; i < count; ++i) {
      c.skip(widths_.length);
      out.push_back(c.address(widths_.address));
    }
    return out;
  }

  /// Visits the links of one symbol node ("SNOD") of an old HDF5 group: enqueues the targets of all but soft links.
  void visit_symbol_node(const PendingObject& of, std::uint64_t at, std::uint64_t heap) {
    Cursor c = file_.at(at, 8, "SNOD");
    c.skip(2);
    const std::uint64_t count = c.number(2);
    std::vector<std::byte> held;
    c = copy(file_.at(at + 8, count * (2 * widths_.address + 24)), held);
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t name = c.address(widths_.address);
      const std::uint64_t header = c.address(widths_.address);
      const std::uint64_t kind = c.number(4);
      c.skip(20);
      if (kind != 2) enqueue(header, join_path(of, read_heap_string(heap, name)));  // 2: soft link, within the file
    }
  }

  /// Reads a name from an HDF5 local heap, up to 1024 bytes.
  std::string read_heap_string(std::uint64_t heap, std::uint64_t offset) {
    Cursor c = file_.at(heap, 8 + 2 * widths_.length + widths_.address, "HEAP");
    c.skip(4);
    const std::uint64_t size = c.number(widths_.length);
    c.skip(widths_.length);
    const std::uint64_t data = c.address(widths_.address);
    if (offset >= size) throw_damaged(file_.path(), "a name outside of its heap");
    const std::string_view text = file_.at(data + offset, std::min<std::uint64_t>(size - offset, 1024))
                                      .text(std::min<std::uint64_t>(size - offset, 1024));
    return std::string(text.substr(0, text.find('\0')));
  }

  Bytes file_;
  Widths widths_;
  std::unordered_set<std::uint64_t> seen_;
  std::vector<PendingObject> waiting_;
};

}  // namespace

// Check for references to other files, before the NetCDF library opens the file, since HDF5 follows them on its own.
void check_references(const std::string& path) { ReferenceCheck(path).run(); }

std::vector<std::string> list_root_members(const std::string& path) { return ReferenceCheck(path).list_root(); }

}  // namespace merganser::io::hdf5
