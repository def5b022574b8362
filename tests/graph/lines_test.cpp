// Lines of files around the sizes at which the reader fetches another piece, beside std::getline.
#include "graph/lines.hpp"

#include <gtest/gtest.h>

#include <sstream>

#include "support/file.hpp"
#include "support/temporary_folder.hpp"

namespace tyche {
namespace {

std::vector<std::string> by_getline(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> out;
  for (std::string line; std::getline(stream, line);) out.push_back(line);
  return out;
}

std::vector<std::string> by_lines(const std::filesystem::path& path) {
  Lines lines(path);
  std::vector<std::string> out;
  std::string_view line;
  while (lines.next(line)) out.emplace_back(line);
  EXPECT_EQ(lines.bytes_left(), 0u);
  return out;
}

TEST(Lines, AFileOfAnySizeHasTheLinesThatGetlineFinds) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "lines.txt";
  constexpr std::size_t kPiece = std::size_t{1} << 20;
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{1}, std::size_t{4095}, std::size_t{4096}, std::size_t{4097}, std::size_t{9000},
        kPiece - 1, kPiece, kPiece + 1, 2 * kPiece + 5}) {
    for (const std::size_t length : {std::size_t{7}, std::size_t{4096}, 2 * kPiece}) {
      std::string text(size, 'x');
      for (std::size_t i = length; i < size; i += length + 1) text[i] = '\n';
      write_file(path, text, Durability::system);
      EXPECT_TRUE(by_lines(path) == by_getline(text)) << size << " bytes in lines of " << length;
    }
  }
}

}  // namespace
}  // namespace tyche
