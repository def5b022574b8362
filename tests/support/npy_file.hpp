#pragma once
/// NumPy arrays of strings, as BREC's files are.
#include <filesystem>
#include <string>

#include "support/file.hpp"

namespace tyche {

/// write_npy(path, "|S2", "(2,)", "BwBW"): an array of two graph6 codes, the triangle's and that of the path 0-1, 1-2.
inline void write_npy(const std::filesystem::path& path, const std::string& descr, const std::string& shape,
                      const std::string& data) {
  std::string header = "{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + ", }";
  header.resize(117, ' ');
  header += '\n';
  std::string text("\x93NUMPY\x01\x00\x76\x00", 10);
  text += header;
  text += data;
  write_file(path, text);
}

}  // namespace tyche
