#include <fmt/format.h>

#include "graph/formats.hpp"
#include "graph/graphml_graph.hpp"
#include "graph/set_builder.hpp"
#include "graph/xml_events.hpp"
#include "support/error.hpp"
#include "support/file.hpp"

namespace tyche {

namespace {

/// Longer text of a number is none.
constexpr std::size_t kLongestData = 1000;

/// Reads one file into a set that may have graphs of other files already.
class FileReader : public XmlHandler {
 public:
  FileReader(GraphSetBuilder& builder, GraphmlColumns& columns, std::uint64_t bytes, Cleaning* cleaning)
      : builder_(builder), columns_(columns), bytes_(bytes), cleaning_(cleaning) {}

  void start(std::string_view name, const XmlAttributes& attributes, const Where& where) override {
    if (skipped_ > 0 || name == "desc") {
      ++skipped_;
      return;
    }
    const Inside inside = inside_.empty() ? Inside::document : inside_.back();
    if (inside == Inside::document && name == "graphml") return inside_.push_back(Inside::graphml);
    if (inside == Inside::graphml && name == "key") return start_key(attributes, where);
    if (inside == Inside::key && name == "default") return start_default();
    if (inside == Inside::graphml && name == "graph") return start_graph(attributes, where);
    if (inside == Inside::graph && name == "node") return start_node(attributes, where);
    if (inside == Inside::graph && name == "edge") return start_edge(attributes, where);
    if (name == "data" && inside != Inside::document && inside != Inside::key) {
      return start_data(inside, attributes, where);
    }
    if (inside == Inside::document) where.fail(fmt::format("expected <graphml>, found <{}>", shown_name(name)));
    if (name == "graph") where.fail("a graph within a graph is not read");
    if (name == "hyperedge") where.fail("hyperedges are not read: edges here join two nodes");
    if (name == "port") {
      ++skipped_;  // parts of nodes that edges may be drawn to
      return;
    }
    where.fail(fmt::format("<{}> does not belong here", shown_name(name)));
  }

  void end(std::string_view, const Where& where) override {
    if (skipped_ > 0) {
      --skipped_;
      return;
    }
    const Inside inside = inside_.back();
    inside_.pop_back();
    if (inside == Inside::graph) {
      builder_.add(graph_->finish(columns_, cleaning_), graph_->place());
      graph_.reset();
    } else if (inside == Inside::fallback) {
      key_->fallback = trimmed();
      key_->has_fallback = true;
    } else if (inside == Inside::data) {
      graph_->add_data(element_, data_key_, trimmed(), where);
    }
  }

  void text(std::string_view piece, const Where& where) override {
    if (skipped_ > 0 || inside_.empty()) return;
    if (inside_.back() != Inside::data && inside_.back() != Inside::fallback) {
      if (piece.find_first_not_of(" \t\r\n") != std::string_view::npos) {
        where.fail(fmt::format("text {} does not belong here", shown(piece)));
      }
      return;
    }
    text_ += piece;
    if (text_.size() > kLongestData) where.fail(fmt::format("more than {} characters of data", kLongestData));
  }

 private:
  enum class Inside { document, graphml, key, fallback, graph, node, edge, data };

  static std::string shown_name(std::string_view name) {
    const std::string quoted = shown(name);
    return quoted.substr(1, quoted.size() - 2);
  }

  std::string_view trimmed() const {
    const std::string_view all = text_;
    const std::size_t begin = all.find_first_not_of(" \t\r\n");
    if (begin == std::string_view::npos) return {};
    return all.substr(begin, all.find_last_not_of(" \t\r\n") + 1 - begin);
  }

  void start_key(const XmlAttributes& attributes, const Where& where) {
    key_ = &keys_.add(attributes, where);
    inside_.push_back(Inside::key);
  }

  void start_default() {
    if (key_->kind == GraphmlKey::Kind::text) {
      ++skipped_;
      return;
    }
    text_.clear();
    inside_.push_back(Inside::fallback);
  }

  void start_graph(const XmlAttributes& attributes, const Where& where) {
    const auto direction = attributes.find("edgedefault");
    if (!direction || (*direction != "undirected" && *direction != "directed")) {
      where.fail("expected edgedefault=\"undirected\" or \"directed\" in <graph>");
    }
    graph_.emplace(keys_, *direction == "directed", where, bytes_);
    inside_.push_back(Inside::graph);
  }

  void start_node(const XmlAttributes& attributes, const Where& where) {
    const auto id = attributes.find("id");
    if (!id) where.fail("expected an attribute id of <node>");
    graph_->add_node(*id, where);
    inside_.push_back(Inside::node);
  }

  void start_edge(const XmlAttributes& attributes, const Where& where) {
    const auto source = attributes.find("source"), target = attributes.find("target");
    if (!source || !target) where.fail("expected attributes source and target of <edge>");
    if (const auto directed = attributes.find("directed")) {
      if (*directed != (graph_->directed() ? "true" : "false")) {
        where.fail("edges with and without a direction in one graph are not read");
      }
    }
    graph_->add_edge(*source, *target, where);
    inside_.push_back(Inside::edge);
  }

  void start_data(Inside inside, const XmlAttributes& attributes, const Where& where) {
    const bool looked_at = inside == Inside::graph || inside == Inside::node || inside == Inside::edge;
    if (!looked_at) {
      ++skipped_;  // of the file, or within other data
      return;
    }
    element_ = inside == Inside::graph  ? GraphmlElement::graph
               : inside == Inside::node ? GraphmlElement::node
                                        : GraphmlElement::edge;
    data_key_ = keys_.find(attributes, element_, where);
    if (keys_.meaning(data_key_, element_, where) == GraphmlMeaning::nothing) {
      ++skipped_;
      return;
    }
    text_.clear();
    inside_.push_back(Inside::data);
  }

  GraphSetBuilder& builder_;
  GraphmlColumns& columns_;
  std::uint64_t bytes_;
  Cleaning* cleaning_;
  GraphmlKeys keys_;
  std::vector<Inside> inside_;
  std::size_t skipped_ = 0;  ///< elements open that are not looked at
  GraphmlKey* key_ = nullptr;
  std::optional<GraphmlGraph> graph_;
  GraphmlElement element_ = GraphmlElement::graph;
  std::size_t data_key_ = 0;
  std::string text_;
};

}  // namespace

GraphSet parse_graphml(std::string_view bytes, std::string_view name, Cleaning* cleaning) {
  GraphSetBuilder builder;
  GraphmlColumns columns;
  FileReader reader(builder, columns, bytes.size(), cleaning);
  parse_xml(bytes, name, reader);
  return builder.finish();
}

bool has_graphml_extension(const std::filesystem::path& file) { return file.extension() == ".graphml"; }

GraphSet read_graphml_folder(const std::filesystem::path& folder, Cleaning* cleaning) {
  GraphSetBuilder builder;
  GraphmlColumns columns;
  std::size_t files = 0;
  for (const std::string& name : list_folder(folder)) {
    if (!has_graphml_extension(name)) continue;
    const std::string bytes = read_file(folder / name);
    FileReader reader(builder, columns, bytes.size(), cleaning);
    parse_xml(bytes, (folder / name).string(), reader);
    ++files;
  }
  if (files == 0) throw InputError::at(folder.string(), "", "holds no .graphml files");
  return builder.finish();
}

}  // namespace tyche
