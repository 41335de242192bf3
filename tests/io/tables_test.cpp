/// Tests of tables of parcels (VTU, NPZ, CSV): written and read bit for bit on several ranks, spoiled, made by others.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>

#include "merganser/base/error.hpp"
#include "merganser/io/output_name.hpp"
#include "merganser/io/parcel_file.hpp"
#include "merganser/parcels/generate.hpp"
#include "src/io/tables/npz_format.hpp"
#include "tests/io/folder.hpp"
#include "tests/support/mutated.hpp"
#include "tests/support/ranks.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/total_digest.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;
using comm::Transport;

class Tables : public testing::TestWithParam<Setup> {};
INSTANTIATE_TEST_SUITE_P(Models, Tables, testing::ValuesIn(setups()), setup_name<testing::TestParamInfo<Setup>>);

const Grid kGrid{{{-1, 0.5, 2}, {2, 1.5, 1}, {true, false, true}}, {8, 6, 4}};

/// Returns random parcels of this rank with attributes of two and of three components, and one that may lack values.
Parcels make_parcels(const Decomposition& decomposition, int rank) {
  RandomParcels random;
  random.per_cell = 5;
  const Parcels plain = generate_random(random, decomposition, rank);
  std::vector<Attribute> attributes = Schema::epic().attributes();
  attributes.push_back({"pair", 2, Rule::sum, {"pair_0", "pair_1"}, ""});
  attributes.push_back({"heat", 1, Rule::mean_present, {"heat"}, "J"});
  attributes.push_back({"wind", 3, Rule::largest, {"wind_x", "wind_y", "wind_z"}, "m/s"});
  Parcels out{Schema(attributes)};
  for (std::size_t i = 0; i < plain.size(); ++i) {
    std::vector<double> row(out.schema().width(), 0);
    std::copy_n(plain.row(i), 10, row.data());
    for (std::size_t k = 10; k < 16; ++k) row[k] = plain.row(i)[1] / static_cast<double>(k);
    row[out.schema().offset("wind")] = -0.0;
    if (plain.id(i) % 3 == 0) row[out.schema().offset("heat")] = std::numeric_limits<double>::quiet_NaN();
    out.append(plain.site(i), row.data());
  }
  return out;
}

TEST_P(Tables, of_arrays_are_read_back_bit_for_bit_with_rules_box_and_time) {
  on_ranks(GetParam(), [](Transport& t) {
    const Folder folder(t);
    const Decomposition decomposition(kGrid, t.size());
    const Parcels parcels = make_parcels(decomposition, t.rank());
    io::FileMetadata metadata;
    io::set_min_volume_ratio(metadata, 20.5);
    for (const char* name : {"a.vtu", "a.npz"}) {
      const std::string path = folder.file(name);
      io::write_parcels(path, parcels, decomposition, 1.25, t, metadata);
      const io::ParcelFileInfo info = io::read_info(path, t);
      EXPECT_EQ(info.grid, kGrid) << name;
      EXPECT_TRUE(info.says_grid && info.says_periodic && info.has_ids);
      EXPECT_EQ(info.time, 1.25);
      EXPECT_EQ(info.min_volume_ratio, 20.5);
      // Attributes of two components become two of one.
      EXPECT_EQ(io::unread_variables(info), (std::vector<std::string>{"pair_0", "pair_1"})) << name;
      io::ParcelFileInfo all = info;
      const std::vector<io::VariableRule> rules{{"pair_0", Rule::sum}, {"pair_1", Rule::sum}};
      io::add_variables(path, all, rules);
      std::vector<io::MissingFound> missing;
      const Parcels back = io::read_parcels(path, all, t, nullptr, &missing);
      ASSERT_EQ(missing.size(), 1U);
      EXPECT_EQ(missing[0].name, "heat");
      const std::string again = folder.file(std::string("b.") + name);
      io::write_parcels(again, back, decomposition, info.time, t, all.metadata);
      EXPECT_EQ(total_digest(t, io::read_parcels(again, all, t)), total_digest(t, back));
      EXPECT_EQ(back.schema().attributes()[3].rule, Rule::mean_present);
      EXPECT_EQ(back.schema().attributes()[4].rule, Rule::largest);
    }
    t.barrier();
  });
}

TEST_P(Tables, do_not_depend_on_ranks_byte_by_byte) {
  on_ranks(GetParam(), [](Transport& t) {
    const Folder folder(t);
    const Decomposition one(kGrid, 1);
    const Parcels all = t.rank() == 0 ? make_parcels(one, 0) : Parcels(make_parcels(one, 0).schema());
    const Decomposition decomposition(kGrid, t.size());
    Parcels mine(all.schema());
    const Parcels whole = make_parcels(one, 0);
    const std::size_t n = whole.size(), ranks = static_cast<std::size_t>(t.size()),
                      r = static_cast<std::size_t>(t.rank());
    for (std::size_t i = n * r / ranks; i < n * (r + 1) / ranks; ++i) mine.append(whole.site(i), whole.row(i));
    for (const char* name : {"a.vtu", "a.npz", "a.npy", "a.csv"}) {
      const std::string first = folder.file(std::string("1") + name), second = folder.file(std::string("2") + name);
      io::write_parcels(first, all, decomposition, 0, t);
      io::write_parcels(second, mine, decomposition, 0, t);
      if (t.rank() == 0) {
        EXPECT_TRUE(read_bytes(first) == read_bytes(second)) << name;
      }
    }
    t.barrier();
  });
}

TEST_P(Tables, of_no_parcels_are_files_too) {
  on_ranks(GetParam(), [](Transport& t) {
    const Folder folder(t);
    for (const char* name : {"a.vtu", "a.npz", "a.npy", "a.csv"}) {
      io::write_parcels(folder.file(name), Parcels(), Decomposition(kGrid, t.size()), 0, t);
      io::ParcelFileInfo info = io::read_info(folder.file(name), t);
      info.grid = kGrid;
      info.says_grid = info.says_periodic = true;
      EXPECT_EQ(io::read_parcels(folder.file(name), info, t).size(), 0U) << name;
      EXPECT_EQ(info.schema, Schema::epic()) << name;
    }
    t.barrier();
  });
}

TEST(TableFiles, spoiled_ones_are_read_or_refused_by_name) {
  if (comm::launched()) GTEST_SKIP() << "one process without a launcher reads them all";
  const Folder folder;
  comm::run({"threads", 1, ""}, [&](Transport& t) {
    const Decomposition decomposition(Grid{kGrid.box, {2, 1, 1}}, 1);
    const Parcels parcels = make_parcels(decomposition, 0);
    for (const char* name : {"a.vtu", "a.npz", "a.npy", "a.csv"}) {
      const std::string path = folder.file(name);
      io::write_parcels(path, parcels, decomposition, 1.25, t);
      const std::string bytes = read_bytes(path);
      int read = 0, refused = 0;
      for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
        std::ofstream(path, std::ios::binary) << mutated(bytes, seed, 64);
        try {
          io::ParcelFileInfo info = io::read_info(path);
          if (!info.says_grid) info.grid = kGrid;
          info.says_grid = info.says_periodic = true;
          read += static_cast<int>(io::read_parcels(path, info, t).size() < 1000);
        } catch (const InputError& e) {
          ASSERT_NE(std::string(e.what()).find(path), std::string::npos)
              << name << " seed " << seed << ": " << e.what();
          ++refused;
        }
      }
      // Checksums of NPZ refuse all but what they do not cover, as dates of members.
      EXPECT_GT(read, std::string(name) == "a.npz" ? 5 : 30) << name;
      EXPECT_GT(refused, 100) << name;
    }
  });
}

TEST(TableFiles, checksums_are_those_of_zip) {
  io::Crc32 crc;
  crc.add("123456789", 9);
  EXPECT_EQ(crc.value(), 0xcbf43926U);
  io::Crc32 parts;
  parts.add("1234567891234", 1);
  parts.add("23456789", 8);
  EXPECT_EQ(parts.value(), crc.value());
  // Of the checksums of parts, as ranks have them.
  for (const std::size_t cut : {0U, 1U, 4U, 9U}) {
    io::Crc32 first, second;
    first.add("123456789", cut);
    second.add("123456789" + cut, 9 - cut);
    first.add_known(second.value(), 9 - cut);
    EXPECT_EQ(first.value(), crc.value()) << cut;
  }
  const std::string zeros(100'000, '\0');
  io::Crc32 whole, joined, long_part;
  whole.add("ab", 2);
  whole.add(zeros.data(), zeros.size());
  joined.add("ab", 2);
  long_part.add(zeros.data(), zeros.size());
  joined.add_known(long_part.value(), zeros.size());
  EXPECT_EQ(joined.value(), whole.value());
}

/// Writes a CSV file of `rows` parcels with lines of different length, some of them blank, on rank 0. @return its text
std::string write_uneven_csv(const std::string& path, int rows, const std::string& line_end, bool ends, Transport& t) {
  std::string text =
      "merganser_id,x_position,y_position,z_position,volume,heat,a rather long name of a column without use" + line_end;
  for (int i = 0; i < rows; ++i) {
    text += std::to_string(i) + ",0." + std::to_string(i % 7) + ",0.25,\"0.5\", 0.0" +
            std::string(static_cast<std::size_t>(i % 13), '1') + "1," + (i == rows - 1 ? "1.5" : "7") + "," +
            (i == 2 ? "word" : "") + line_end;
    if (i % 5 == 3) text += line_end;
  }
  if (!ends) text.resize(text.size() - line_end.size());
  if (t.rank() == 0) std::ofstream(path, std::ios::binary) << text;
  t.barrier();
  return text;
}

TEST_P(Tables, of_text_are_read_by_shares_of_their_bytes_as_by_one_rank) {
  on_ranks(GetParam(), [](Transport& t) {
    const Folder folder(t);
    for (const int rows : {0, 1, 2, 3, 10, 100})
      for (const std::string& line_end : {std::string("\n"), std::string("\r\n")})
        for (const bool ends : {true, false}) {
          const std::string path = folder.file("a.csv");
          const std::string text = write_uneven_csv(path, rows, line_end, ends, t);
          const io::ParcelFileInfo alone = io::read_info(path);
          io::ParcelFileInfo info = io::read_info(path, t);
          ASSERT_EQ(info.parcels, rows);
          ASSERT_EQ(info.metadata.csv.rows, rows);
          ASSERT_EQ(info.metadata.csv.types, alone.metadata.csv.types);
          ASSERT_EQ(info.metadata.csv.texts, alone.metadata.csv.texts);
          for (const io::CsvPlace& p : info.metadata.csv.places) {
            const auto before = static_cast<std::size_t>(p.offset);
            ASSERT_EQ(std::count(text.begin(), text.begin() + p.offset, '\n') + 1, p.line);
            ASSERT_EQ(text.substr(before, text.find(',', before) - before), std::to_string(p.row));
          }
          info.grid = Grid{{{0, 0, 0}, {1, 1, 1}, {true, true, true}}, {4, 4, 4}};
          info.says_grid = info.says_periodic = true;
          const Parcels mine = io::read_parcels(path, info, t);
          std::int64_t sum = 0;
          for (std::size_t i = 0; i < mine.size(); ++i) {
            sum += mine.id(i);
            EXPECT_EQ(mine.site(i).x, static_cast<double>(mine.id(i) % 7) / 10);
          }
          EXPECT_EQ(t.all_reduce(sum, comm::Op::sum), std::int64_t{rows} * (rows - 1) / 2);
          EXPECT_EQ(t.all_reduce(static_cast<std::int64_t>(mine.size()), comm::Op::sum), rows);
          t.barrier();
        }
  });
}

TEST_P(Tables, of_text_with_many_rows_are_read_from_places_within_the_shares) {
  on_ranks(GetParam(), [](Transport& t) {
    if (t.size() != 1 && t.size() != 3) return;  // enough: the file has 60,000 rows
    const Folder folder(t);
    const std::string path = folder.file("a.csv");
    constexpr int kRows = 60'000;
    if (t.rank() == 0) {
      std::ofstream file(path, std::ios::binary);
      file << "merganser_id,x_position,y_position,z_position,volume\n";
      for (int i = 0; i < kRows; ++i) file << i << ",0." << i % 7 << ",0.25,0.5,0.001\n";
    }
    t.barrier();
    io::ParcelFileInfo alone = io::read_info(path), shared = io::read_info(path, t);
    EXPECT_EQ(alone.metadata.csv.places.size(), 4U);
    EXPECT_EQ(shared.metadata.csv.places.size(), t.size() == 1 ? 4U : 6U);
    for (io::ParcelFileInfo* info : {&alone, &shared}) {
      info->grid = Grid{{{0, 0, 0}, {1, 1, 1}, {true, true, true}}, {4, 4, 4}};
      info->says_grid = info->says_periodic = true;
      const Parcels mine = io::read_parcels(path, *info, t);
      std::int64_t sum = 0;
      for (std::size_t i = 0; i < mine.size(); ++i) {
        sum += mine.id(i);
        ASSERT_EQ(mine.site(i).x, static_cast<double>(mine.id(i) % 7) / 10);
      }
      EXPECT_EQ(t.all_reduce(static_cast<std::int64_t>(mine.size()), comm::Op::sum), kRows);
      EXPECT_EQ(t.all_reduce(sum, comm::Op::sum), std::int64_t{kRows} * (kRows - 1) / 2);
    }
    t.barrier();
  });
}

TEST_P(Tables, of_text_with_a_wrong_line_are_refused_with_its_number_on_any_number_of_ranks) {
  on_ranks(GetParam(), [](Transport& t) {
    const Folder folder(t);
    const std::string path = folder.file("a.csv");
    for (const int wrong : {2, 17, 39}) {
      if (t.rank() == 0) {
        std::ofstream file(path, std::ios::binary);
        file << "x_position,y_position,z_position,volume\n";
        for (int line = 2; line <= 40; ++line) file << (line == wrong || line == 40 ? "1,2\n" : "0.5,0.5,0.5,0.001\n");
      }
      t.barrier();
      const std::string said = refusal<InputError>([&] { static_cast<void>(io::read_info(path, t)); });
      const std::string line = "a.csv: line " + std::to_string(wrong) + " has 2 fields; the first line has 4";
      EXPECT_NE(said.find(line), std::string::npos) << said;
      t.barrier();
    }
    // A line end ends a line in quotation marks too.
    if (t.rank() == 0) std::ofstream(path) << "x_position,y_position,z_position,volume\n0,0,\"0\n\",1\n";
    t.barrier();
    const std::string quoted = refusal<InputError>([&] { static_cast<void>(io::read_info(path, t)); });
    EXPECT_NE(quoted.find("line 2 has 3 fields"), std::string::npos) << quoted;
    // A file that is another one by the time its rows are read.
    if (t.rank() == 0) std::ofstream(path) << "x_position,y_position,z_position,volume\n0.5,0.5,0.5,0.001\n";
    t.barrier();
    io::ParcelFileInfo info = io::read_info(path, t);
    info.grid = kGrid;
    info.says_grid = info.says_periodic = true;
    t.barrier();
    if (t.rank() == 0) std::ofstream(path) << "x_position,y_position,z_position,volume\n0.5,0.5,0.5,0.01\n";
    t.barrier();
    const std::string other = refusal<InputError>([&] { static_cast<void>(io::read_parcels(path, info, t)); });
    EXPECT_NE(other.find("changed while it was read"), std::string::npos) << other;
    t.barrier();
  });
}

TEST(TableFiles, names_of_outputs_say_the_format) {
  io::FileMetadata epic, npz;
  npz.format = io::FileFormat::npz;
  EXPECT_EQ(io::parse_output_name("a.vtu", epic).format, io::FileFormat::vtu);
  EXPECT_EQ(io::parse_output_name("a.npz", epic).format, io::FileFormat::npz);
  EXPECT_EQ(io::parse_output_name("a.npy", epic).format, io::FileFormat::npy);
  EXPECT_EQ(io::parse_output_name("a.csv", epic).format, io::FileFormat::csv);
  EXPECT_EQ(io::parse_output_name("a.txt:csv", epic).format, io::FileFormat::csv);
  EXPECT_EQ(io::parse_output_name("a.txt:csv", epic).path, "a.txt");
  EXPECT_EQ(io::strip_format("a.txt:csv"), "a.txt");
  EXPECT_EQ(io::parse_output_name("a.nc", npz).format, io::FileFormat::epic);
  EXPECT_THROW(static_cast<void>(io::parse_output_name("a.h5", npz)), UsageError);
}

}  // namespace
