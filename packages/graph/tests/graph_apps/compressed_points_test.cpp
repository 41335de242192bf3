/// Tests of compressed files of points: the same points as from plain ones, on any number of ranks.
#include <gtest/gtest.h>

#include <cstring>

#include "apps/msf/points_file.hpp"
#include "merganser/base/error.hpp"
#include "merganser/comm/runtime.hpp"
#include "tests/graphs/compressors.hpp"
#include "tests/graphs/whole_graph.hpp"
#include "tests/io/folder.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;

/// Returns the points of all ranks, in their order.
std::vector<double> points_on(int ranks, const std::string& path) {
  std::vector<msf::Points> parts(static_cast<std::size_t>(ranks));
  comm::run({"threads", ranks, "", {}},
            [&](comm::Transport& t) { parts[static_cast<std::size_t>(t.rank())] = app::read_points(path, t).points; });
  std::vector<double> all;
  for (const auto& part : parts) all.insert(all.end(), part.coordinates.begin(), part.coordinates.end());
  return all;
}

/// Returns a file of NumPy with an array of three columns.
std::string numpy(bool by_columns, std::size_t rows) {
  std::string head = "{'descr': '<f8', 'fortran_order': " + std::string(by_columns ? "True" : "False") +
                     ", 'shape': (" + std::to_string(rows) + ", 3), }\n";
  std::string bytes = "\x93NUMPY" + std::string("\x01\x00", 2);
  bytes += static_cast<char>(head.size());
  bytes += '\0';
  bytes += head;
  for (std::size_t i = 0; i < 3 * rows; ++i) {
    const double x = static_cast<double>(i * i % 10007) / 8;
    bytes.append(reinterpret_cast<const char*>(&x), sizeof x);
  }
  return bytes;
}

TEST(CompressedPoints, are_those_of_the_plain_file) {
  const Folder folder;
  std::string text = "x;y\n# comment\n";
  for (int i = 0; i < 60000; ++i) text += std::to_string(i * 7 % 10007) + ";" + std::to_string(i % 97) + ".5\n";
  const std::vector<std::pair<std::string, std::string>> files{
      {"p.csv", text}, {"rows.npy", numpy(false, 5000)}, {"columns.npy", numpy(true, 5000)}, {"one.txt", "1 2 3"}};
  for (const auto& [name, bytes] : files) {
    const std::string path = folder.file(name);
    write_bytes(path, bytes);
    const auto wanted = points_on(1, path);
    EXPECT_FALSE(wanted.empty());
    const auto size = app::estimate_points_size(path);
    for (const Packer& packer : kPackers) {
      const std::string packed = path + packer.extension;
      write_bytes(packed, compressed_with(packer.compression, bytes));
      for (const int ranks : {1, 2, 3, 4, 7}) EXPECT_TRUE(points_on(ranks, packed) == wanted) << packed << ranks;
      const auto forecast = app::estimate_points_size(packed);
      EXPECT_EQ(forecast.bytes, bytes.size());
      EXPECT_EQ(forecast.points, size.points);
      EXPECT_EQ(forecast.dimension, size.dimension);
    }
  }
}

TEST(CompressedPoints, that_are_spoiled_are_refused_with_their_place) {
  const Folder folder;
  for (const Packer& packer : kPackers) {
    const std::string path = folder.file(std::string("p") + packer.extension);
    const auto error = [&](const std::string& bytes) -> std::string {
      write_bytes(path, bytes);
      try {
        (void)points_on(3, path);
      } catch (const InputError& e) {
        return e.what();
      }
      return "none";
    };
    const std::string good = compressed_with(packer.compression, "1 2\n3 4\n5 6\n");
    EXPECT_NE(error(good.substr(0, good.size() - 2)).find(path + ": byte "), std::string::npos) << error(good);
    EXPECT_NE(error(compressed_with(packer.compression, "1 2\n3 x\n")).find(": row 2 (line 2), column 2: \"x\""),
              std::string::npos);
    EXPECT_NE(error(compressed_with(packer.compression, good))
                  .find(packer.compression == graphs::Compression::gzip ? "packed by gzip" : "packed by"),
              std::string::npos)
        << "compressed twice";
  }
}

}  // namespace
