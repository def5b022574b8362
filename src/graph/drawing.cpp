#include "graph/drawing.hpp"

// GCC 12 cannot see that Boost's Chrobak-Payne sets its iterators before it uses them.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/boyer_myrvold_planar_test.hpp>
#include <boost/graph/chrobak_payne_drawing.hpp>
#include <boost/graph/make_biconnected_planar.hpp>
#include <boost/graph/make_maximal_planar.hpp>
#include <boost/graph/planar_canonical_ordering.hpp>
#include <cmath>
#include <numbers>
#include <optional>

namespace tyche {

namespace {

using Points = std::vector<Point>;

Point operator+(Point a, Point b) { return {a.x + b.x, a.y + b.y}; }
Point operator-(Point a, Point b) { return {a.x - b.x, a.y - b.y}; }
Point operator*(Point a, double factor) { return {a.x * factor, a.y * factor}; }
double dot(Point a, Point b) { return a.x * b.x + a.y * b.y; }
double cross(Point a, Point b) { return a.x * b.y - a.y * b.x; }
double norm(Point a) { return std::hypot(a.x, a.y); }

/// Twice the signed area of a triangle, with what is too flat to tell counted as flat.
int side(Point a, Point b, Point c) {
  const double area = cross(b - a, c - a);
  const double scale = norm(b - a) * norm(c - a);
  return area > 1e-9 * scale ? 1 : area < -1e-9 * scale ? -1 : 0;
}

/// Whether two segments without a common end meet.
bool segments_meet(Point a, Point b, Point c, Point d) {
  const auto within = [](Point p, Point q, Point r) {  // r, on the line of p and q, lies between them
    return std::min(p.x, q.x) <= r.x && r.x <= std::max(p.x, q.x) && std::min(p.y, q.y) <= r.y &&
           r.y <= std::max(p.y, q.y);
  };
  const int abc = side(a, b, c), abd = side(a, b, d), cda = side(c, d, a), cdb = side(c, d, b);
  if (abc != abd && cda != cdb && abc != 0 && abd != 0 && cda != 0 && cdb != 0) return true;
  return (abc == 0 && within(a, b, c)) || (abd == 0 && within(a, b, d)) || (cda == 0 && within(c, d, a)) ||
         (cdb == 0 && within(c, d, b));
}

/// Chrobak and Payne's drawing on a grid, scaled to edges of about length 1; nothing where the graph is not planar.
/// Requires a connected graph.
std::optional<Points> grid_drawing(const Graph& graph) {
  using namespace boost;
  using Native = adjacency_list<vecS, vecS, undirectedS, property<vertex_index_t, int>, property<edge_index_t, int>>;
  using Embedding = std::vector<std::vector<graph_traits<Native>::edge_descriptor>>;
  const Node n = graph.num_nodes();
  if (n == 1) return Points{{0, 0}};
  if (n == 2) return Points{{0, 0}, {1, 0}};
  Native native(n);
  for (const auto& [u, v] : graph.edges()) add_edge(u, v, native);
  Embedding storage(n);
  const auto embedding = make_iterator_property_map(storage.begin(), get(vertex_index, native));
  const auto embed = [&] {
    int index = 0;
    for (auto [at, end] = edges(native); at != end; ++at) put(edge_index, native, *at, index++);
    for (auto& around : storage) around.clear();
    return boyer_myrvold_planarity_test(boyer_myrvold_params::graph = native,
                                        boyer_myrvold_params::embedding = embedding);
  };
  if (!embed()) return std::nullopt;
  // The drawing wants triangles: edges are added for it alone.
  make_biconnected_planar(native, embedding);
  embed();
  make_maximal_planar(native, embedding);
  embed();
  std::vector<graph_traits<Native>::vertex_descriptor> order;
  planar_canonical_ordering(native, embedding, std::back_inserter(order));
  struct GridPoint {
    std::size_t x = 0, y = 0;
  };
  std::vector<GridPoint> grid(n);
  auto grid_map = make_iterator_property_map(grid.begin(), get(vertex_index, native));
  chrobak_payne_straight_line_drawing(native, embedding, order.begin(), order.end(), grid_map);
  Points points(n);
  for (Node v = 0; v < n; ++v) points[v] = {static_cast<double>(grid[v].x), static_cast<double>(grid[v].y)};
  double length = 0;
  const std::vector<Edge> list = graph.edges();
  for (const auto& [u, v] : list) length += norm(points[u] - points[v]);
  const double scale = static_cast<double>(list.size()) / length;
  for (Point& p : points) p = p * scale;
  return points;
}

/// Springs along edges, pushing apart of all nodes. Where `keep_planar`, a move that would make two edges cross is
/// halved, then given up, so a drawing without crossings stays one.
class Springs {
 public:
  Springs(const Graph& graph, Points points, bool keep_planar)
      : graph_(graph), edges_(graph.edges()), points_(std::move(points)), keep_planar_(keep_planar) {}

  Points run(int rounds) {
    for (int round = 0; round < rounds; ++round) {
      const double most = 0.6 * (1 - static_cast<double>(round) / rounds) + 0.01;
      for (Node v = 0; v < graph_.num_nodes(); ++v) move(v, most);
    }
    return points_;
  }

 private:
  [[nodiscard]] Point force(Node v) const {
    Point f;
    for (Node u = 0; u < graph_.num_nodes(); ++u) {
      if (u == v) continue;
      const Point d = points_[v] - points_[u];
      const double distance = std::max(norm(d), 1e-3);
      f = f + d * (0.9 / (distance * distance * distance));
    }
    for (const Node u : graph_.neighbours(v)) {
      const Point d = points_[u] - points_[v];
      f = f + d * norm(d);
    }
    if (keep_planar_) {
      // Edges push nodes away, or a node would sit on one that is not its own.
      for (const auto& [a, b] : edges_) {
        if (a == v || b == v) continue;
        const Point along = points_[b] - points_[a];
        const double t = std::clamp(dot(points_[v] - points_[a], along) / std::max(1e-9, dot(along, along)), 0.0, 1.0);
        const Point d = points_[v] - (points_[a] + along * t);
        const double distance = std::max(norm(d), 1e-3);
        if (distance > 1.2) continue;
        f = f + d * (0.25 / (distance * distance * distance));
      }
    }
    return f;
  }

  void move(Node v, double most) {
    Point f = force(v);
    const double size = norm(f);
    if (size < 1e-9) return;
    double step = std::min(most, 0.1 * size) / size;
    const Point from = points_[v];
    for (int attempt = 0; attempt < 4; ++attempt, step /= 2) {
      points_[v] = from + f * step;
      if (!keep_planar_ || fits(v)) return;
    }
    points_[v] = from;
  }

  /// Whether the edges at v meet no others, nor run along each other.
  [[nodiscard]] bool fits(Node v) const {
    for (const Node u : graph_.neighbours(v)) {
      for (const auto& [a, b] : edges_) {
        if ((a == v && b == u) || (a == u && b == v)) continue;
        if (a == v || b == v || a == u || b == u) {
          // A common end: the other ends must not lie in one direction.
          const Node common = a == v || b == v ? v : u;
          const Node mine = common == v ? u : v;
          const Node other = a == common ? b : a;
          const Point p = points_[mine] - points_[common], q = points_[other] - points_[common];
          if (side(points_[common], points_[mine], points_[other]) == 0 && dot(p, q) > 0) return false;
        } else if (segments_meet(points_[v], points_[u], points_[a], points_[b])) {
          return false;
        }
      }
    }
    return true;
  }

  const Graph& graph_;
  std::vector<Edge> edges_;
  Points points_;
  bool keep_planar_;
};

Points circle(Node nodes) {
  Points points(nodes);
  const double radius = std::max(1.0, nodes / (2 * std::numbers::pi));
  for (Node v = 0; v < nodes; ++v) {
    const double angle = 2 * std::numbers::pi * v / nodes;
    points[v] = {radius * std::cos(angle), radius * std::sin(angle)};
  }
  return points;
}

/// Turned so that its longest extent lies across, with the corner at the origin.
void upright(Points& points) {
  Point mean;
  for (const Point& p : points) mean = mean + p;
  const auto count = static_cast<double>(points.size());
  mean = {mean.x / count, mean.y / count};
  double xx = 0, xy = 0, yy = 0;
  for (const Point& p : points) {
    const Point d = p - mean;
    xx += d.x * d.x;
    xy += d.x * d.y;
    yy += d.y * d.y;
  }
  const double angle = -0.5 * std::atan2(2 * xy, xx - yy);
  Point low{1e300, 1e300};
  for (Point& p : points) {
    const Point d = p - mean;
    p = {d.x * std::cos(angle) - d.y * std::sin(angle), d.x * std::sin(angle) + d.y * std::cos(angle)};
    low = {std::min(low.x, p.x), std::min(low.y, p.y)};
  }
  for (Point& p : points) p = p - low;
}

}  // namespace

Drawing draw(const Graph& graph) {
  constexpr int kRounds = 300;
  constexpr double kGap = 1.0;
  Drawing drawing;
  drawing.points.resize(graph.num_nodes());
  drawing.planar = true;
  const Components components = connected_components(graph);
  double x = 0;
  std::vector<double> heights;
  for (const std::vector<Node>& nodes : components.members()) {
    const Graph part = induced_subgraph(graph, nodes);
    std::optional<Points> start = grid_drawing(part);
    const bool planar = start.has_value();
    drawing.planar = drawing.planar && planar;
    Points points = Springs(part, planar ? *std::move(start) : circle(part.num_nodes()), planar).run(kRounds);
    upright(points);
    double width = 0, height = 0;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      drawing.points[nodes[i]] = {x + points[i].x, points[i].y};
      width = std::max(width, points[i].x);
      height = std::max(height, points[i].y);
    }
    x += width + kGap;
    heights.push_back(height);
    drawing.height = std::max(drawing.height, height);
  }
  for (Node v = 0; v < graph.num_nodes(); ++v) {
    drawing.points[v].y += (drawing.height - heights[components.of_node[v]]) / 2;
  }
  drawing.width = std::max(0.0, x - kGap);
  return drawing;
}

}  // namespace tyche
