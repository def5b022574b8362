#include "support/safetensors.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstring>
#include <limits>

#include "support/error.hpp"

namespace tyche {
namespace {

std::string with_header(const std::string& json, const std::string& data) {
  const std::uint64_t length = json.size();
  return std::string(reinterpret_cast<const char*>(&length), 8) + json + data;
}

std::string refusal(const std::string& bytes) {
  try {
    (void)TensorFile::parse(bytes, "f");
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(TensorFile, WhatIsWrittenIsReadBack) {
  TensorFile file;
  file.metadata = {{"seed", "7"}, {"model", "gcn"}};
  file.add<float>("w", {2, 3}, std::vector<float>{1, 2, 3, 4, 5, std::numeric_limits<float>::infinity()});
  file.add<std::int64_t>("n", {}, std::vector<std::int64_t>{-5});
  file.add<float>("none", {0, 4}, std::vector<float>{});
  const TensorFile again = TensorFile::parse(file.serialise(), "memory");
  EXPECT_EQ(again.metadata, file.metadata);
  EXPECT_EQ(again.get<float>("w", {2, 3}), (std::vector<float>{1, 2, 3, 4, 5, std::numeric_limits<float>::infinity()}));
  EXPECT_EQ(again.get<std::int64_t>("n"), std::vector<std::int64_t>{-5});
  EXPECT_TRUE(again.get<float>("none").empty());
  EXPECT_EQ(again.serialise(), file.serialise());
}

TEST(TensorFile, TheLayoutIsTheFormats) {
  TensorFile file;
  file.add<std::uint8_t>("a", {2}, std::vector<std::uint8_t>{7, 9});
  const std::string bytes = file.serialise();
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), 8);
  EXPECT_EQ(length % 8, 0u);
  EXPECT_EQ(bytes.size(), 8 + length + 2);
  EXPECT_THAT(bytes.substr(8, length),
              testing::MatchesRegex(R"(\{"__metadata__":\{"tyche\.check":"[0-9a-f]+"\},)"
                                    R"("a":\{"dtype":"U8","shape":\[2\],"data_offsets":\[0,2\]\}\} *)"));
  EXPECT_EQ(bytes.substr(8 + length), std::string("\x07\x09"));
}

TEST(TensorFile, AsksForWhatIsThere) {
  TensorFile file;
  file.add<float>("w", {2}, std::vector<float>{1, 2});
  EXPECT_THROW((void)file.get<float>("v"), InputError);
  EXPECT_THROW((void)file.get<std::int64_t>("w"), InputError);
  EXPECT_THROW((void)file.get<float>("w", {1, 2}), InputError);
  EXPECT_THROW(file.add<float>("w", {1}, std::vector<float>{1}), InputError);
  EXPECT_THROW(file.add<float>("x", {3}, std::vector<float>{1}), InputError);
}

TEST(TensorFile, RefusesHeadersThatLie) {
  EXPECT_THAT(refusal(""), testing::HasSubstr("8 bytes"));
  EXPECT_THAT(refusal(std::string(8, '\xff')), testing::HasSubstr("only 0 follow"));
  EXPECT_THAT(refusal(with_header("{", "")), testing::HasSubstr("not JSON"));
  EXPECT_THAT(refusal(with_header("[]", "")), testing::HasSubstr("object"));
  EXPECT_THAT(refusal(with_header(R"({"a":{"dtype":"F31","shape":[1],"data_offsets":[0,4]}})", "1234")),
              testing::HasSubstr("unknown"));
  EXPECT_THAT(refusal(with_header(R"({"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})", "1234")),
              testing::HasSubstr("shape"));
  EXPECT_THAT(refusal(with_header(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})", "1234")),
              testing::HasSubstr("do not fit"));
  EXPECT_THAT(refusal(with_header(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", "12")),
              testing::HasSubstr("do not fit"));
  EXPECT_THAT(
      refusal(with_header(
          R"({"a":{"dtype":"F32","shape":[4611686018427387904,4611686018427387904],"data_offsets":[0,0]}})", "")),
      testing::HasSubstr("too large"));
  EXPECT_THAT(refusal(with_header(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},)"
                                  R"("b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}})",
                                  "123")),
              testing::HasSubstr("follow one another"));
  EXPECT_THAT(refusal(with_header(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}})", "123")),
              testing::HasSubstr("too many"));
  EXPECT_THAT(refusal(with_header(R"({"__metadata__":{"a":1}})", "")), testing::HasSubstr("not a string"));
}

RC_GTEST_PROP(TensorFile, NeverFallsOverWhateverTheBytes, (const std::vector<std::uint8_t>& noise, std::uint16_t cut)) {
  TensorFile file;
  file.add<float>("w", {2}, std::vector<float>{1, 2});
  std::string bytes = file.serialise();
  for (std::size_t i = 0; i < noise.size(); i += 2) {
    bytes[noise[i] % bytes.size()] = static_cast<char>(noise[std::min(i + 1, noise.size() - 1)]);
  }
  bytes.erase(bytes.size() - cut % bytes.size());
  try {
    (void)TensorFile::parse(bytes, "noise");
  } catch (const InputError&) {
  }
}

}  // namespace
}  // namespace tyche
