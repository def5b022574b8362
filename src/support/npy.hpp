#pragma once
/// NumPy's .npy files: their header, and those of real numbers; .npz archives of them.
///
///   const NpyMatrix x = read_npy_matrix("features.npy");         // float32 or float64, one or two dimensions
///   write_npy_matrix("logits.npy", {.rows = 2, .columns = 3, .values = {…}});
///
/// graph/formats.hpp reads those of graph6 strings.
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tyche {

/// What stands before the data of a .npy file (format versions 1 to 3).
struct NpyHeader {
  std::string descr;  ///< the dtype as NumPy writes it: "<f4", "|S5", "<U31"
  bool fortran_order = false;
  std::vector<std::size_t> shape;
  std::size_t offset = 0;       ///< where the dictionary begins
  std::size_t data_offset = 0;  ///< where the data begins
};

/// Throws InputError ("NAME: byte N: …") on bytes that are no .npy file, or one of a structured dtype.
[[nodiscard]] NpyHeader parse_npy_header(std::string_view bytes, std::string_view name);

/// The whole number that up to eight bytes are.
[[nodiscard]] std::uint64_t npy_number(std::string_view bytes, bool big_endian = false);

template <class Number>
struct NpyTable {
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::vector<Number> values = {};  ///< row-major
};
using NpyMatrix = NpyTable<float>;
using NpyNumbers = NpyTable<double>;

/// float32 or float64 of either byte order, C or Fortran order; a vector of n is n × 1. Float64 is rounded to float32.
/// Throws InputError where the content is something else or not as long as its shape says.
[[nodiscard]] NpyMatrix parse_npy_matrix(std::string_view bytes, std::string_view name);
[[nodiscard]] NpyMatrix read_npy_matrix(const std::filesystem::path& path);

/// Numbers of any plain type (bool, whole or real), as doubles. A single number is 1 × 1.
[[nodiscard]] NpyNumbers parse_npy_numbers(std::string_view bytes, std::string_view name);

/// float32, C order, two dimensions. Requires values.size() == rows * columns.
void write_npy_matrix(const std::filesystem::path& path, const NpyMatrix& matrix);

/// The members of a .zip archive, as numpy.savez and numpy.savez_compressed write it (.npz): stored or deflated. Name
/// and content. Throws InputError ("NAME: byte N: …") on bytes that are no archive, that end early, whose members are
/// encrypted, compressed in another way, or not of the size or checksum that is promised. Never allocates more than the
/// format lets its bytes unpack to (about a thousand times as many).
[[nodiscard]] std::map<std::string, std::string> read_zip(std::string_view bytes, std::string_view name);

}  // namespace tyche
