// Random sequences of calls: null pointers, wrong sizes, handles that are freed, made up or of another kind. Whatever
// comes, the answer is a status with a word, and no handle is lost. (fuzz/capi_fuzz.cpp looks for such sequences.)
#include <gtest/gtest.h>

#include "../../fuzz/capi_entry.hpp"
#include "support/fuzz_corpus.hpp"
#include "support/random.hpp"

namespace tyche {
namespace {

TEST(CInterface, AnySequenceOfCallsIsAnswered) {
  for (std::uint32_t i = 0; i < 400; ++i) {
    Stream stream(derive_key(1, Purpose::test, i));
    std::string bytes(200 + stream.below(1200), '\0');
    for (char& c : bytes) c = static_cast<char>(stream.below(256));
    ASSERT_NO_THROW(fuzz::CallSequence(bytes).run()) << "sequence " << i;
  }
}

TEST(CInterface, EverySequenceThatFuzzingFoundIsAnswered) {
  replay_corpus("capi", [](const std::string& input) { fuzz::CallSequence(input).run(); });
}

}  // namespace
}  // namespace tyche
