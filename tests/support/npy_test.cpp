#include "support/npy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>

#include "support/error.hpp"
#include "support/file.hpp"

namespace tyche {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

/// A version-1 file as numpy.save lays it out, from its header text and data.
std::string npy(const std::string& header, const std::string& data) {
  std::string bytes = "\x93NUMPY";
  bytes += std::string("\x01\x00", 2);
  bytes += static_cast<char>(header.size() & 0xff);
  bytes += static_cast<char>(header.size() >> 8);
  return bytes + header + data;
}

template <class T>
std::string raw(std::initializer_list<T> values) {
  std::string bytes(values.size() * sizeof(T), '\0');
  std::memcpy(bytes.data(), std::data(values), bytes.size());
  return bytes;
}

TEST(Npy, ReadsFloat32InCOrder) {
  const NpyMatrix m = parse_npy_matrix(
      npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }   \n", raw<float>({1, 2, 3, 4, 5, 6})), "x.npy");
  EXPECT_EQ(m.rows, 2u);
  EXPECT_EQ(m.columns, 3u);
  EXPECT_THAT(m.values, ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST(Npy, ReadsFloat64AndFortranOrderAndVectors) {
  EXPECT_THAT(
      parse_npy_matrix(
          npy("{\"descr\": '<f8', 'fortran_order': True, 'shape': (2, 3)}\n", raw<double>({1, 4, 2, 5, 3, 6})), "x.npy")
          .values,
      ElementsAre(1, 2, 3, 4, 5, 6));
  const NpyMatrix vector =
      parse_npy_matrix(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", raw<float>({7, 8})), "x.npy");
  EXPECT_EQ(vector.rows, 2u);
  EXPECT_EQ(vector.columns, 1u);
}

TEST(Npy, ReadsBigEndian) {
  EXPECT_THAT(parse_npy_matrix(npy("{'descr': '>f4', 'fortran_order': False, 'shape': (1, 1), }",
                                   std::string("\x3f\x80\x00\x00", 4)),
                               "x.npy")
                  .values,
              ElementsAre(1));
}

TEST(Npy, RefusesWhatItCannotUseInWords) {
  const auto reading = [](const std::string& bytes) { return [bytes] { (void)parse_npy_matrix(bytes, "x.npy"); }; };
  EXPECT_THAT(reading("hello, world"), ThrowsMessage<InputError>(HasSubstr("x.npy: byte 0: is not a .npy file")));
  EXPECT_THAT(reading(npy("{'descr': '<i8', 'fortran_order': False, 'shape': (1,), }", raw<long>({1}))),
              ThrowsMessage<InputError>(HasSubstr("holds dtype '<i8'; expected float32")));
  EXPECT_THAT(reading(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }", raw<float>({1, 2, 3}))),
              ThrowsMessage<InputError>(HasSubstr("shape 2 × 2 does not agree with the 12 bytes")));
  EXPECT_THAT(reading(npy("{'descr': '<f4', 'fortran_order': False, "
                          "'shape': (4294967296, 4294967296), }",
                          "")),
              ThrowsMessage<InputError>(HasSubstr("does not agree")));
  EXPECT_THAT(reading(npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }", "")),
              ThrowsMessage<InputError>(HasSubstr("structured")));
  EXPECT_THAT(reading(npy("{'descr': '<f4', 'shape': (1,), }", "")),
              ThrowsMessage<InputError>(HasSubstr("must have 'descr', 'fortran_order' and 'shape'")));
}

RC_GTEST_PROP(Npy, GivesBackWhatWasWritten, ()) {
  NpyMatrix matrix{.rows = *rc::gen::inRange<std::size_t>(0, 9), .columns = *rc::gen::inRange<std::size_t>(1, 9)};
  for (std::size_t i = 0; i < matrix.rows * matrix.columns; ++i)
    matrix.values.push_back(static_cast<float>(*rc::gen::arbitrary<int>()));
  const auto path = std::filesystem::temp_directory_path() / ("tyche-npy-" + std::to_string(::getpid()) + ".npy");
  write_npy_matrix(path, matrix);
  const NpyMatrix back = read_npy_matrix(path);
  RC_ASSERT(read_file(path).find('\n') % 64 == 63u);
  std::filesystem::remove(path);
  RC_ASSERT(back.rows == matrix.rows && back.columns == matrix.columns);
  RC_ASSERT(back.values == matrix.values);
}

RC_GTEST_PROP(Npy, NeverCrashesOnDamagedBytes, ()) {
  std::string bytes = npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }\n", raw<float>({1, 2, 3, 4}));
  const auto changes = *rc::gen::container<std::vector<std::pair<std::size_t, char>>>(
      rc::gen::pair(rc::gen::inRange<std::size_t>(0, bytes.size()), rc::gen::arbitrary<char>()));
  for (const auto& [at, c] : changes) bytes[at] = c;
  bytes.resize(*rc::gen::inRange<std::size_t>(0, bytes.size() + 1));
  try {
    const NpyMatrix m = parse_npy_matrix(bytes, "x.npy");
    RC_ASSERT(m.values.size() == m.rows * m.columns);
  } catch (const InputError&) {
  }
}

}  // namespace
}  // namespace tyche
