#pragma once
/// Graphs, or arrays that stand by them, with another in one place: what they are kept in only grows.
///
///   set.graphs = replaced(set.graphs, 4, Graph());
#include <cstddef>

namespace tyche {

template <class List, class Item>
List replaced(const List& list, std::size_t place, const Item& item) {
  auto all = list.all();
  all[place] = item;
  return List(all);
}

}  // namespace tyche
