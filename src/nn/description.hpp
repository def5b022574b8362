#pragma once
/// Networks out of text: TOML (`tyche network --toml`) or JSON (--json), written by a program or by hand.
/// docs/networks.md has the words. What a step leaves out follows from what it reads; what it says is checked, and
/// errors name the line.
///
///   ModelConfig config = described(text, "mine.toml");     // kind "gin" where it is a gin, else "network"
///   config.input_features = …;                             // what the data has
///   fit(config);                                           // refuses a description that says something else
///
/// A description that is one of the kinds of nn/kinds.hpp, whatever its steps and parameters are called, becomes that
/// kind: to its bits, by whatever an engine has for it.
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "nn/program.hpp"

namespace tyche::nn {

/// TOML as JSON; null for dates, of which JSON knows nothing. Throws InputError that names the line.
[[nodiscard]] nlohmann::json json_of_toml(std::string_view text, std::string_view name);

/// Bounds on what a description may ask for.
inline constexpr std::size_t kMostText = std::size_t{1} << 22, kMostSteps = 4096, kMostColumns = 65536,
                             kMostParameters = std::size_t{1} << 28;

/// described() by a value of the field `network`: itself where it has lines or begins with '{', else the file it names.
[[nodiscard]] ModelConfig described_by(const std::string& value);

/// What a description says, sizes that it leaves to the data at some value: a kind of the table, or "network", whose
/// width and rni are such that random_dims() and uses_features() are the network's. `network` is the text. Throws
/// InputError: "NAME: line 3: …". edge_features is 0 where it does not look at edges.
[[nodiscard]] ModelConfig described(std::string_view text, std::string_view name = "network");

/// The program of a description, on data of these sizes where it leaves them open.
[[nodiscard]] Program open_program(std::string_view text, const ModelConfig& data);

/// Holds what a description says against classes, input_features, edge_features, types and xavier_fan, which the data
/// has, and puts them where it leaves them open: `network` is the whole of it after that, or empty where it is of
/// another kind. Nothing happens where there is no description. Throws InputError that names line and step.
void fit(ModelConfig& config);

/// The program of kind "network".
[[nodiscard]] Program described_network(const ModelConfig& config);

/// The kind, and its fields, whose network this is but for names; else the kind "network". Sizes are the network's.
[[nodiscard]] ModelConfig recognised(const Program& program);

}  // namespace tyche::nn
