#include "support/seal.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/error.hpp"
#include "support/file.hpp"
#include "support/safetensors.hpp"
#include "support/temporary_folder.hpp"

namespace tyche {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

/// Whether a reader that checks the seal and then parses would notice.
bool refused(const std::string& text) {
  try {
    check_seal(text, "x.json");
    return !nlohmann::json::accept(text);
  } catch (const InputError&) {
    return true;
  }
}

TEST(Seal, StaysJsonWithOneMoreMember) {
  const nlohmann::ordered_json json = {{"a", 1}, {"b", {{"check", "}"}}}};
  for (const int indent : {-1, 1, 2}) {
    const std::string sealed = seal_json(json.dump(indent) + (indent < 0 ? "" : "\n"));
    EXPECT_NO_THROW(check_seal(sealed, "x"));
    auto read = nlohmann::ordered_json::parse(sealed);
    EXPECT_EQ(read.erase("check"), 1u) << sealed;
    EXPECT_EQ(read, json);
  }
  EXPECT_EQ(seal_json("{\"a\":1}").substr(0, 16), "{\"a\":1,\"check\":\"");
}

TEST(Seal, NoticesEveryChangedByteThatChangesWhatIsSaid) {
  const nlohmann::ordered_json json = {{"a", 1}, {"b", {1.5, -2.25}}, {"c", "words"}};
  for (const std::string& text : {seal_json(json.dump()), seal_json(json.dump(2) + "\n")}) {
    for (std::size_t at = 0; at < text.size(); ++at) {
      for (const int bit : {0, 3, 5, 7}) {
        std::string bad = text;
        bad[at] = static_cast<char>(bad[at] ^ (1 << bit));
        if (refused(bad)) continue;
        auto read = nlohmann::ordered_json::parse(bad);
        for (const char* key : {"a", "b", "c"}) EXPECT_EQ(read[key], json[key]) << bad;
      }
    }
  }
}

TEST(Seal, ATornLineIsNoDamageButALineWhoseNewlineChangedIs) {
  const std::string line = seal_json(R"({"a":1})");
  for (std::size_t kept = 0; kept <= line.size(); ++kept)
    EXPECT_NO_THROW(check_torn_line(line.substr(0, kept), "x", ""));
  for (int bit = 0; bit < 8; ++bit) {
    EXPECT_THAT([&] { check_torn_line(line + static_cast<char>('\n' ^ (1 << bit)), "x.jsonl", "line 2"); },
                ThrowsMessage<InputError>(HasSubstr("x.jsonl: line 2: is damaged")));
  }
}

TEST(Seal, OfTomlIsACommentOnTheLastLine) {
  const std::string text = seal_toml("a = 1\n");
  EXPECT_THAT(text, testing::StartsWith("a = 1\n# check "));
  EXPECT_NO_THROW(check_seal(text, "c.toml"));
  EXPECT_THAT([] { check_seal("a = 2\n" + seal_toml("a = 1\n").substr(6), "c.toml"); },
              ThrowsMessage<InputError>(HasSubstr("c.toml: is damaged")));
}

TEST(Seal, IsNotAskedOfFilesThatHaveNone) {
  for (const char* text : {"", "{}", "{\"a\": 1}\n", "a = 1\n", "# check me\n", "{\"check\": 3}", "}"}) {
    EXPECT_NO_THROW(check_seal(text, "x")) << text;
  }
}

TEST(Seal, OfTensorsNoticesEveryChangedByteAndNoOtherOrder) {
  TensorFile file;
  file.metadata = {{"seed", "7"}};
  file.add<float>("b", {2}, std::vector<float>{1, 2});
  file.add<float>("a", {1}, std::vector<float>{3});
  const std::string bytes = file.serialise();
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    std::string bad = bytes;
    bad[at] = static_cast<char>(bad[at] ^ 4);
    try {
      const TensorFile read = TensorFile::parse(bad, "bad");
      EXPECT_EQ(read.get<float>("b"), (std::vector<float>{1, 2})) << at;
      EXPECT_EQ(read.get<float>("a"), std::vector<float>{3}) << at;
      EXPECT_EQ(read.metadata.at("seed"), "7") << at;
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), HasSubstr("bad"));
    }
  }
  // As another program would store the same tensors: the data in the order of the names.
  const std::size_t check = bytes.find("tyche.check\":\"") + 14;
  const std::string header = R"({"__metadata__":{"tyche.check":")" + bytes.substr(check, 16) +
                             R"(","seed":"7"},"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)" +
                             R"("b":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}})";
  const std::uint64_t length = header.size();
  std::string other(reinterpret_cast<const char*>(&length), 8);
  other += header;
  other += bytes.substr(bytes.size() - 4) + bytes.substr(bytes.size() - 12, 8);
  EXPECT_EQ(TensorFile::parse(other, "other").get<float>("a"), std::vector<float>{3});
}

TEST(JsonLog, CutsOffATornLineAndRefusesADamagedOne) {
  const TemporaryFolder folder;
  const auto path = folder / "log.jsonl";
  EXPECT_TRUE(read_entries(path).empty());
  append_entry(path, {{"n", 1}});
  write_file(path, read_file(path) + "{\"n\":");
  EXPECT_EQ(read_entries(path).size(), 1u);
  append_entry(path, {{"n", 2}});
  const auto entries = read_entries(path);
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[1], (nlohmann::ordered_json{{"n", 2}}));
  std::string text = read_file(path);
  text[text.find("2,")] = '3';
  write_file(path, text);
  EXPECT_THAT([&] { (void)read_entries(path); }, ThrowsMessage<InputError>(HasSubstr("log.jsonl: line 2: is damaged")));
}

}  // namespace
}  // namespace tyche
