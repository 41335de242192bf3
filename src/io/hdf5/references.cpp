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

/// Numbers of messages in the header of an object.
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

class Walk {
 public:
  explicit Walk(const std::string& path) : file_(path) {}

  void all() {
    superblock();
    while (!waiting_.empty()) {
      const Object next = std::move(waiting_.back());
      waiting_.pop_back();
      object(next);
    }
  }

 private:
  struct Object {
    std::uint64_t at;
    std::string name;  ///< with its groups
  };
  struct Chunk {
    std::uint64_t at;
    std::uint64_t size;
  };

  [[noreturn]] void refuse(const std::string& what) const {
    throw InputError(file_.path() + ": " + what + "; allowed: files that hold all of their data");
  }
  static std::string quoted(std::string_view text) { return '"' + std::string(text.substr(0, 200)) + '"'; }

  void superblock() {
    Cursor c = file_.at(0, 9, "\x89HDF\r\n\x1a\n");
    const std::uint8_t version = c.byte();
    if (version > 3) damaged(file_.path(), "its version is " + std::to_string(version));
    if (version >= 2) {
      c = file_.at(9, 2);
      widths(c.byte(), c.byte());
      c = file_.at(12, 4 * widths_.address);
      c.skip(widths_.address);
      if (const std::uint64_t more = c.address(widths_.address); more != kNowhere) add(more, "the superblock");
      c.skip(widths_.address);
      return add(c.address(widths_.address), "");
    }
    c = file_.at(13, 2);
    widths(c.byte(), c.byte());
    const std::uint64_t at = version == 0 ? 24 : 28;
    c = file_.at(at, 6 * widths_.address);
    c.skip(3 * widths_.address);
    if (c.address(widths_.address) != kNowhere)
      refuse("it is one of several parts of a file (HDF5 driver information)");
    c.skip(widths_.address);  // name of the root
    add(c.address(widths_.address), "");
  }

  void widths(std::uint8_t address, std::uint8_t length) {
    const auto good = [](std::uint8_t n) { return n == 2 || n == 4 || n == 8; };
    if (!good(address) || !good(length)) damaged(file_.path(), "addresses of a width that HDF5 does not have");
    widths_ = {address, length};
  }

  void add(std::uint64_t at, std::string name) {
    if (at == kNowhere) damaged(file_.path(), "an object without a place");
    if (!seen_.insert(at).second) return;
    if (seen_.size() > kMaxObjects) damaged(file_.path(), "more objects than any file has");
    waiting_.push_back({at, std::move(name)});
  }

  // Headers of objects

  void object(const Object& of) {
    const bool old = file_.at(of.at, 4).text(4) != "OHDR";
    std::vector<Chunk> chunks;
    bool ordered = false;  // messages tell the order of their creation
    if (old) {
      Cursor c = file_.at(of.at, 16);
      if (c.byte() != 1) damaged(file_.path(), "an object of an unknown version");
      c.skip(7);
      chunks.push_back({of.at + 16, c.number(4)});
    } else {
      Cursor c = file_.at(of.at, 6);
      c.skip(4);
      if (c.byte() != 2) damaged(file_.path(), "an object of an unknown version");
      const std::uint8_t flags = c.byte();
      const std::uint64_t begin = of.at + 6 + ((flags & 0x20U) != 0 ? 16 : 0) + ((flags & 0x10U) != 0 ? 4 : 0);
      const std::size_t bytes = std::size_t{1} << (flags & 3U);
      ordered = (flags & 4U) != 0;
      chunks.push_back({begin + bytes, file_.at(begin, bytes).number(bytes)});
    }
    for (std::size_t i = 0; i < chunks.size(); ++i) {
      if (i > 4096) damaged(file_.path(), "an object in too many pieces");
      messages(of, chunks[i], old, ordered, chunks);
    }
  }

  void messages(const Object& of, Chunk chunk, bool old, bool ordered, std::vector<Chunk>& chunks) {
    std::vector<std::byte> held;  // the block does not outlive what a message makes read
    Cursor c = copy(file_.at(chunk.at, chunk.size), held);
    const std::size_t head = old ? 8 : ordered ? 6 : 4;
    while (c.left() >= head) {
      const std::uint64_t type = c.number(old ? 2 : 1);
      const std::uint64_t size = c.number(2);
      const std::uint8_t flags = c.byte();
      c.skip(old ? 3 : ordered ? 2 : 0);
      Cursor body = c.part(size);
      if ((flags & 2U) != 0) {  // it stands elsewhere, for several objects
        if (type == kFilters || type == kLayout || type == kExternalFiles || type == kLink)
          refuse("variable " + quoted(of.name) + " is described in a place of its own");
        continue;
      }
      message(of, type, body, old, chunks);
    }
  }

  static Cursor copy(Cursor from, std::vector<std::byte>& held) {
    const std::string_view text = from.text(from.left());
    const auto* const begin = reinterpret_cast<const std::byte*>(text.data());
    held.assign(begin, begin + text.size());
    return {from.path(), held};
  }

  void message(const Object& of, std::uint64_t type, Cursor body, bool old, std::vector<Chunk>& chunks) {
    switch (type) {
      case kContinuation: {
        const std::uint64_t at = body.address(widths_.address);
        const std::uint64_t size = body.number(widths_.length);
        if (old) return chunks.push_back({at, size});
        static_cast<void>(file_.at(at, 4, "OCHK"));
        if (size < 8) damaged(file_.path(), "a piece of an object that is too short");
        return chunks.push_back({at + 4, size - 8});
      }
      case kLink:
        return link(of, body);
      case kLinkInfo:
        return dense_links(of, body);
      case kSymbolTable:
        return symbol_table(of, body);
      case kExternalFiles:
        refuse("variable " + quoted(of.name) + ": its values are in another file, " + external_name(body) +
               " (HDF5 external storage)");
      case kLayout:
        return layout(of, body);
      case kFilters:
        return filters(of, body);
      case kDriver:
        refuse("it is one of several parts of a file (HDF5 driver information)");
      default:
        return;
    }
  }

  // What leads out

  std::string external_name(Cursor body) {
    body.skip(4);
    body.skip(2);
    const std::uint64_t used = body.number(2);
    const std::uint64_t heap = body.address(widths_.address);
    return used == 0 ? "none" : quoted(heap_text(heap, body.number(widths_.length)));
  }

  void layout(const Object& of, Cursor body) {
    const std::uint8_t version = body.byte();
    if (version < 3) body.skip(1);
    const std::uint8_t kind = body.byte();
    if (kind == 3)
      refuse("variable " + quoted(of.name) +
             ": its values are those of variables of other files (HDF5 virtual dataset)");
    if (version < 1 || version > 5 || kind > 3)
      damaged(file_.path(), "variable " + of.name + " is stored in an unknown way");
  }

  /// HDF5 loads a program for a filter that it does not know, from a folder that the environment may name.
  void filters(const Object& of, Cursor body) {
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

  void link(const Object& of, Cursor body) {
    if (body.byte() != 1) damaged(file_.path(), "a link of an unknown version");
    const std::uint8_t flags = body.byte();
    const std::uint8_t kind = (flags & 8U) != 0 ? body.byte() : 0;
    if ((flags & 4U) != 0) body.skip(8);
    if ((flags & 0x10U) != 0) body.skip(1);
    const std::uint64_t length = body.number(std::size_t{1} << (flags & 3U));
    const std::string name = path_in(of, body.text(length));
    if (kind == 0) return add(body.address(widths_.address), name);
    if (kind == 1) return;  // a path within the file: what it leads to is walked by itself
    if (kind != 64)
      refuse("link " + quoted(name) + " is one that a plug-in follows (HDF5 user-defined link " + std::to_string(kind) +
             ')');
    Cursor value = body.part(body.number(2));
    value.skip(std::min<std::size_t>(1, value.left()));
    const std::string_view text = value.text(value.left());
    refuse("link " + quoted(name) + " leads to another file, " + quoted(text.substr(0, text.find('\0'))) +
           " (HDF5 external link)");
  }

  static std::string path_in(const Object& of, std::string_view name) {
    return of.name.empty() ? std::string(name) : of.name + '/' + std::string(name);
  }

  void dense_links(const Object& of, Cursor body) {
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
      each_record(file_, widths_, index, [&](Cursor id) {
        std::vector<std::byte> held;
        link(of, copy(heap.object(id), held));
      });
    }
  }

  void symbol_table(const Object& of, Cursor body) {
    const std::uint64_t tree = body.address(widths_.address);
    const std::uint64_t heap = body.address(widths_.address);
    std::vector<Chunk> nodes{{tree, 0}};
    std::unordered_set<std::uint64_t> known;
    while (!nodes.empty()) {
      const std::uint64_t at = nodes.back().at;
      nodes.pop_back();
      if (!known.insert(at).second) continue;
      if (file_.at(at, 4).text(4) == "SNOD")
        symbols(of, at, heap);
      else
        for (const std::uint64_t child : children(at)) nodes.push_back({child, 0});
    }
  }

  std::vector<std::uint64_t> children(std::uint64_t tree) {
    const std::uint64_t head = 8 + 2 * widths_.address;
    Cursor c = file_.at(tree, head, "TREE");
    if (c.byte() != 0) damaged(file_.path(), "a group whose index is that of something else");
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

  void symbols(const Object& of, std::uint64_t at, std::uint64_t heap) {
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
      if (kind != 2) add(header, path_in(of, heap_text(heap, name)));  // 2: a path within the file
    }
  }

  /// A text of a local heap.
  std::string heap_text(std::uint64_t heap, std::uint64_t offset) {
    Cursor c = file_.at(heap, 8 + 2 * widths_.length + widths_.address, "HEAP");
    c.skip(4);
    const std::uint64_t size = c.number(widths_.length);
    c.skip(widths_.length);
    const std::uint64_t data = c.address(widths_.address);
    if (offset >= size) damaged(file_.path(), "a name outside of its heap");
    const std::string_view text = file_.at(data + offset, std::min<std::uint64_t>(size - offset, 1024))
                                      .text(std::min<std::uint64_t>(size - offset, 1024));
    return std::string(text.substr(0, text.find('\0')));
  }

  Bytes file_;
  Widths widths_;
  std::unordered_set<std::uint64_t> seen_;
  std::vector<Object> waiting_;
};

}  // namespace

void check_references(const std::string& path) { Walk(path).all(); }

}  // namespace merganser::io::hdf5
