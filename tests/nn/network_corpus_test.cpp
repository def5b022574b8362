// Descriptions of networks that fuzzing found (fuzz/network_fuzz.cpp), read again.
#include <gtest/gtest.h>

#include "../../fuzz/network_entry.hpp"
#include "support/fuzz_corpus.hpp"

namespace tyche {
namespace {

TEST(FuzzCorpus, EveryNetworkIsRefusedOrWrittenAndReadToTheSame) {
  replay_corpus("network", [](const std::string& input) { fuzz::read_network(input); });
}

}  // namespace
}  // namespace tyche
