#pragma once
/// The page of two graphs, without an experiment: both drawn, 1-WL round by round, and nodes to individualise.
///
///   write_file("out.html", report::pair_page({"hexagon", a}, {"two triangles", b}, "tyche wl a.g6 b.g6 --page
///   out.html"));
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "report/viewer.hpp"

namespace tyche::report {

/// What the page of two graphs shows: page_data() without experiments, its one data set the pair, and `shows` "pair",
/// by which the page knows what it is. Throws as view_two() does.
[[nodiscard]] nlohmann::ordered_json pair_page_data(const NamedGraph& first, const NamedGraph& second,
                                                    std::string_view command);

/// The page itself, one file without references to anything outside it. `command` made it. Throws as view_two() and
/// page_template() do.
[[nodiscard]] std::string pair_page(const NamedGraph& first, const NamedGraph& second, std::string_view command);

}  // namespace tyche::report
