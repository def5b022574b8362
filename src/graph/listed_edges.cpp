#include "graph/listed_edges.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace tyche {

namespace {

struct Item {
  Edge edge;  ///< (smaller, larger)
  std::size_t entry;

  friend bool operator<(const Item& a, const Item& b) { return a.edge != b.edge ? a.edge < b.edge : a.entry < b.entry; }
};

/// The first in the file's order of what is wrong.
void note(std::optional<std::size_t>& first, std::size_t entry) { first = std::min(first.value_or(entry), entry); }

std::string shown_edge(const EdgeListing& listing, const Edge& edge) {
  return fmt::format("({}, {})", listing.name(edge.first), listing.name(edge.second));
}

/// All but the loops, sorted.
std::vector<Item> sorted_items(std::span<const Edge> listed, const EdgeListing& listing, Cleaning* cleaning) {
  std::vector<Item> items;
  items.reserve(listed.size());
  for (std::size_t i = 0; i < listed.size(); ++i) {
    const auto& [u, v] = listed[i];
    if (u != v) {
      items.push_back({std::minmax(u, v), i});
    } else if (cleaning != nullptr) {
      ++cleaning->loops;
    } else {
      fail_unclean(listing.place(i, {}),
                   fmt::format("edge {} is a loop; graphs here have none", shown_edge(listing, listed[i])));
    }
  }
  std::sort(items.begin(), items.end());
  return items;
}

/// What differs between what two entries say of an edge; empty: nothing.
std::string_view difference(const ListedEdges& listed, std::size_t first, std::size_t second) {
  const auto mine = listed.attributes.row(first), other = listed.attributes.row(second);
  if ((!listed.labels.empty() && listed.labels[first] != listed.labels[second]) ||
      !std::ranges::equal(mine.first(listed.categories), other.first(listed.categories))) {
    return listed.weighted ? "another weight" : "another label";
  }
  return std::ranges::equal(mine, other) ? "" : "other attributes";
}

}  // namespace

ListedEdges settle_edges(const ListedEdges& all, Directions directions, const EdgeListing& listing,
                         Cleaning* cleaning) {
  const std::vector<Edge>& listed = all.ends;
  const std::vector<Item> items = sorted_items(listed, listing, cleaning);
  ListedEdges out{.weighted = all.weighted,
                  .attributes = {{}, all.attributes.columns},
                  .categories = all.categories,
                  .targets = {{}, all.targets.columns}};
  std::optional<std::size_t> repeat, alone;
  std::optional<std::pair<std::size_t, std::size_t>> conflict;  // the later entry, the first of its edge
  std::uint64_t repeats = 0, one_way = 0, conflicts = 0;
  bool some_both = directions == Directions::both;
  for (std::size_t begin = 0, end = 0; begin < items.size(); begin = end) {
    while (end < items.size() && items[end].edge == items[begin].edge) ++end;
    const std::size_t first = items[begin].entry;
    std::size_t same = 1, back = 0;
    bool conflicting = false;
    for (std::size_t i = begin + 1; i < end; ++i) {
      const std::size_t entry = items[i].entry;
      std::size_t& times = listed[entry] == listed[first] ? same : back;
      if (++times > 1 || directions == Directions::once) {
        ++repeats;
        note(repeat, entry);
      }
      if (difference(all, first, entry).empty()) continue;
      conflicting = true;
      if (!conflict || entry < conflict->first) conflict = {entry, first};
    }
    if (back == 0) {
      ++one_way;
      note(alone, first);
    } else if (directions == Directions::either) {
      some_both = true;
    }
    conflicts += conflicting ? 1 : 0;
    out.ends.push_back(items[begin].edge);
    if (!all.labels.empty()) out.labels.push_back(all.labels[first]);
    out.attributes.add_row(all.attributes.row(first));
    out.targets.add_row(all.targets.row(first));
  }
  if (!some_both) one_way = 0;
  if (cleaning != nullptr) {
    cleaning->repeats += repeats;
    cleaning->one_way += one_way;
    cleaning->conflicts += conflicts;
    return out;
  }
  if (repeat) {
    fail_unclean(listing.place(*repeat, {}), fmt::format("edge {} stands twice", shown_edge(listing, listed[*repeat])));
  }
  if (one_way > 0) {
    const auto& [u, v] = listed[*alone];
    const std::string why = directions == Directions::both
                                ? "; graphs here are undirected"
                                : fmt::format(", which other edges of the {} have", listing.whole);
    fail_unclean(listing.place(*alone, {}), fmt::format("edge {} lacks its other direction {}{}",
                                                        shown_edge(listing, {u, v}), shown_edge(listing, {v, u}), why));
  }
  if (conflict) {
    const auto& [second, first] = *conflict;
    const std::string_view differs = difference(all, first, second);
    const Where here = listing.place(second, differs), there = listing.place(first, differs);
    const std::string other = here.number == there.number  // all edges are on one line
                                  ? fmt::format("edge {}, which joins the same nodes", first)
                                  : fmt::format("on {} {}, where it stands too", there.unit, there.number);
    fail_unclean(here, fmt::format("edge {} has {} than {}", shown_edge(listing, listed[second]), differs, other));
  }
  return out;
}

}  // namespace tyche
