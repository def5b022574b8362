// Calls about sets of graphs.
#include <boost/algorithm/string/replace.hpp>
#include <cmath>

#include "capi/capi.hpp"
#include "datasets/certificate.hpp"
#include "datasets/generate.hpp"
#include "engine/engine.hpp"
#include "graph/drawing.hpp"
#include "graph/formats.hpp"
#include "graph/lines.hpp"
#include "graph/named.hpp"
#include "graph/packed.hpp"
#include "support/temporary_folder.hpp"
#include "support/version.hpp"

using namespace tyche;
using namespace tyche::capi;

namespace {

std::optional<Format> format_of(const std::string& name) {
  return name.empty() ? std::nullopt : std::optional(parse_format(name));
}

std::shared_ptr<SetObject> object_of(GraphSet set, std::string source = {}) {
  datasets::Dataset out;
  out.name = set.name;
  out.set = std::move(set);
  return std::make_shared<SetObject>(std::move(out), std::move(source));
}

/// The object that `read` makes of options format and clean; it knows what cleaning did.
template <class Read>
std::shared_ptr<SetObject> read_cleanly(const Options& options, const Read& read) {
  Cleaning cleaning;
  const bool clean = options.flag("clean");
  std::shared_ptr<SetObject> object = read(format_of(options.word("format")), clean ? &cleaning : nullptr);
  if (clean) object->cleaned = cleaning;
  return object;
}

std::shared_ptr<Object> generate(const std::string& kind, const char* json, const char* folder) {
  std::vector<std::string> known = datasets::parameter_keys();
  for (const char* more : {"planar_source", "certify", "force", "threads"}) known.emplace_back(more);
  const Options options(json, known);
  datasets::GenerateOptions make = datasets::options_of(kind, options);
  make.certify = options.flag("certify", true);
  datasets::Made made;
  if (folder == nullptr) {
    made = datasets::make(make);
  } else {
    made.result = datasets::generate(make, folder);
    made.dataset = datasets::load_dataset(folder);
  }
  auto object = std::make_shared<SetObject>(std::move(made.dataset), folder == nullptr ? "" : folder);
  if (made.result.certificate) object->certificate = datasets::to_json(*made.result.certificate);
  return object;
}

/// A copy of a set that is changed.
tyche_status changed(tyche_handle set, tyche_handle* out, const std::function<void(GraphSet&)>& change) {
  return answer(out, [&] {
    datasets::Dataset data = set_of(set)->dataset();
    change(data.set);
    data.hash = 0;
    return std::make_shared<SetObject>(std::move(data));
  });
}

datasets::CertifyOptions certify_options(const char* json) {
  return datasets::certify_options(Options(json, {"published", "higher", "format", "threads"}));
}

std::shared_ptr<Answer> certify(const std::string& path, const char* json) {
  return std::make_shared<Answer>(datasets::to_json(datasets::certify_any(path, certify_options(json))));
}

}  // namespace

tyche_status tyche_about(tyche_handle* out) {
  return answer(out, [] {
    Json json = {{"version", kVersion}, {"abi", TYCHE_ABI}, {"engines", engine::engine_names()}};
    const engine::GpuState gpu = engine::gpu_state();
    json["gpu"] = {{"usable", gpu.usable}, {"text", gpu.text}};
    auto& fields = json["train"] = Json::array();
    for (const train::Field& field : train::fields()) {
      if (field.option.empty() || field.key == "data.format" || field.key == "data.clean") continue;
      std::vector<std::string> also = field.also;
      std::ranges::transform(also, also.begin(), Said::spelled);
      fields.push_back({{"name", name_of(field)},
                        {"also", also},
                        {"key", field.key},
                        {"help", field.help},
                        {"default", field.shown}});
    }
    return std::make_shared<Answer>(json);
  });
}

tyche_status tyche_set_from_arrays(const tyche_graphs* graphs, tyche_handle* out) {
  return answer(out, [&] {
    require(graphs, "graphs");
    return object_of(graphs_from(*graphs));
  });
}

tyche_status tyche_set_read(const char* path, const char* options, tyche_handle* out) {
  return answer(out, [&] {
    const std::string from = text(path, "path");
    return read_cleanly(Options(options, {"format", "clean"}), [&](auto format, Cleaning* cleaning) {
      return std::make_shared<SetObject>(datasets::load_dataset(from, format, cleaning), from);
    });
  });
}

tyche_status tyche_set_parse(const void* bytes, uint64_t size, const char* name, const char* format,
                             tyche_handle* out) {
  return answer(out, [&] {
    require(bytes, "bytes");
    return object_of(parse_graphs({static_cast<const char*>(bytes), size}, text(name, "name"),
                                  format_of(format == nullptr ? "" : format)));
  });
}

tyche_status tyche_set_write(tyche_handle set, const char* path, const char* format) {
  return call([&] {
    const auto object = set_of(set);
    write_graphs(text(path, "path"), object->set(), parse_format(text(format, "format")));
  });
}

tyche_status tyche_pack(const char* path, const char* options, const char* to, tyche_handle* out) {
  return answer(out, [&] {
    const std::string from = text(path, "path"), packed = text(to, "to");
    return read_cleanly(Options(options, {"format", "clean"}), [&](auto format, Cleaning* cleaning) {
      (void)pack_graphs(from, format, cleaning, packed);
      return std::make_shared<SetObject>(datasets::load_dataset(packed, Format::packed), packed);
    });
  });
}

tyche_status tyche_set_pairs(const char* path, const char* options, tyche_handle* out) {
  return answer(out, [&] {
    const std::string from = text(path, "path");
    const Options how(options, {"only", "format", "clean"});
    return read_cleanly(how, [&](auto format, Cleaning* cleaning) {
      distinguish::PairSet pairs = distinguish::load_pairs(from, format, how.texts("only"), cleaning);
      auto object = object_of(std::exchange(pairs.set, {}), from);
      object->pairs = std::move(pairs);
      return object;
    });
  });
}

tyche_status tyche_generate(const char* kind, const char* options, const char* folder, tyche_handle* out) {
  return answer(out, [&] { return generate(text(kind, "kind"), options, folder); });
}

tyche_status tyche_set_select(tyche_handle set, const uint64_t* numbers, uint64_t count, tyche_handle* out) {
  return answer_of(set, out, [&](const SetObject& object) {
    if (count > 0) require(numbers, "numbers");
    const datasets::Dataset& in = object.dataset();
    datasets::Dataset picked;
    picked.name = in.name;
    for (const std::uint64_t g : std::span(numbers, count)) {
      (void)object.graph(g);  // throws where there is none
      if (!in.subset.empty()) picked.subset.push_back(in.subset[g]);
      if (!in.pair.empty()) picked.pair.push_back(in.pair[g]);
    }
    picked.set = selected(in.set, std::span(numbers, count));
    return std::make_shared<SetObject>(std::move(picked));
  });
}

tyche_status tyche_set_relabel(tyche_handle set, const int32_t* labels, uint64_t count, tyche_handle* out) {
  return answer_of(set, out, [&](const SetObject& object) {
    if (count > 0) require(labels, "labels");
    if (count != 0 && count != object.set().graphs.size()) {
      throw InputError("{} labels for {} graphs; expected one for each", count, object.set().graphs.size());
    }
    datasets::Dataset data = object.dataset();
    data.set.labels.assign(labels, labels + count);
    const bool same = data.set.labels == object.set().labels;
    if (!same) data.hash = 0;
    return std::make_shared<SetObject>(std::move(data), same && object.from_file() ? object.source() : "");
  });
}

tyche_status tyche_set_node_values(tyche_handle set, const int32_t* labels, const float* targets, uint64_t nodes,
                                   uint64_t columns, const uint8_t* parts, uint64_t splits, tyche_handle* out) {
  return changed(set, out, [&](GraphSet& own) {
    const std::uint64_t there = set_of(set)->nodes();
    if (nodes != there) throw InputError("values of {} nodes; the graphs have {}", nodes, there);
    if (targets != nullptr && columns == 0) throw InputError("targets: expected at least one column");
    own.node_labels.clear();
    own.node_targets.clear();
    own.node_target_dim = targets == nullptr ? 0 : columns;
    std::uint64_t first = 0;
    for (const Graph& graph : own.graphs) {
      const std::uint64_t end = first + graph.num_nodes();
      if (labels != nullptr) own.node_labels.push_back({labels + first, labels + end});
      if (targets != nullptr) own.node_targets.push_back({targets + first * columns, targets + end * columns});
      first = end;
    }
    own.node_parts.clear();
    if (splits > 0) require(parts, "parts");
    for (std::uint64_t i = 0; i < splits * nodes; ++i) {
      if (i % nodes == 0) own.node_parts.emplace_back();
      if (parts[i] > 3) throw InputError("parts: node {} is in part {}; expected 0 to 3", i % nodes, parts[i]);
      own.node_parts.back().push_back(static_cast<NodePart>(parts[i]));
    }
  });
}

tyche_status tyche_set_weigh(tyche_handle set, tyche_handle* out) {
  return changed(set, out, [](GraphSet& own) {
    own.weighted = true;
    for (std::size_t g = 0; g < own.graphs.size(); ++g) {
      const Graph graph = own.graphs[g];
      for (const EdgeLabel label : graph.edge_labels()) {
        if (std::isfinite(weight_of(label))) continue;
        fail_graph(g, "a weight is {}; expected a finite number", weight_of(label));
      }
    }
  });
}

tyche_status tyche_set_categorise(tyche_handle set, uint64_t node_columns, uint64_t edge_columns, tyche_handle* out) {
  return changed(set, out, [&](GraphSet& own) {
    const auto take = [&](std::size_t& categories, std::uint64_t columns, std::size_t dim, const Ragged<float>& blocks,
                          const char* whose) {
      if (columns > dim) {
        throw InputError("{} columns of categories; {} have {} of attributes", columns, whose, dim);
      }
      categories = columns;
      for (std::size_t g = 0; g < blocks.size(); ++g) {
        for (std::size_t i = 0; i < blocks[g].size(); ++i) {
          const float value = blocks[g][i];
          if (i % dim >= columns ||
              (value >= 0 && value <= static_cast<float>(kMostCategory) && std::floor(value) == value))
            continue;
          fail_graph(g, "a category of {} is {}; expected a whole number from 0 to {}", whose, value, kMostCategory);
        }
      }
    };
    take(own.categories, node_columns, own.attribute_dim, own.attributes, "nodes");
    take(own.edge_categories, edge_columns, own.edge_attribute_dim, own.edge_attributes, "edges");
  });
}

tyche_status tyche_set_retarget(tyche_handle set, const float* targets, uint64_t count, uint64_t columns,
                                tyche_handle* out) {
  return changed(set, out, [&](GraphSet& own) {
    if (count > 0) require(targets, "targets");
    if (count > 0 && (count != own.graphs.size() || columns == 0)) {
      throw InputError("{} rows of {} targets for {} graphs; expected one row for each", count, columns,
                       own.graphs.size());
    }
    own.target_dim = count == 0 ? 0 : columns;
    own.targets.assign(targets, targets + count * own.target_dim);
  });
}

tyche_status tyche_graph6(tyche_handle set, uint64_t graph, tyche_handle* out) {
  return answer(out, [&] { return std::make_shared<Answer>(Json{{"graph6", to_graph6(set_of(set)->graph(graph))}}); });
}

tyche_status tyche_draw(tyche_handle set, uint64_t graph, tyche_handle* out) {
  return answer_of(set, out, [&](const SetObject& object) {
    constexpr Node kMost = 2000;  // time grows with the square
    if (object.graph(graph).num_nodes() > kMost) {
      throw InputError("graph {} has {} nodes; more than {} are not drawn", graph, object.graph(graph).num_nodes(),
                       kMost);
    }
    const Drawing drawing = draw(object.graph(graph));
    std::vector<double> points;
    for (const Point& point : drawing.points) points.insert(points.end(), {point.x, point.y});
    const auto out_object = std::make_shared<Answer>(
        Json{{"width", drawing.width}, {"height", drawing.height}, {"planar", drawing.planar}});
    out_object->add("points", {std::move(points), 2});
    return out_object;
  });
}

tyche_status tyche_certify(tyche_handle set, const char* options, tyche_handle* out) {
  return answer_of(set, out, [&](const SetObject& object) {
    if (object.set().labels.empty() && object.set().target_dim > 0) {
      return std::make_shared<Answer>(
          datasets::to_json(datasets::certify_counting(object.set(), certify_options(options))));
    }
    if (object.set().labels.empty() && !object.set().node_labels.empty()) {
      throw InputError("what labels of nodes are to say is in a folder's manifest: certify the folder");
    }
    const TemporaryFolder folder;
    const std::string path = (folder.path() / "graphs.txt").string();
    write_graphs(path, object.set(), Format::gin);
    try {
      return certify(path, options);
    } catch (const InputError& error) {  // which would name a file that nobody knows
      throw InputError(boost::replace_all_copy(std::string(error.what()), path, object.dataset().name));
    }
  });
}

tyche_status tyche_certify_file(const char* path, const char* options, tyche_handle* out) {
  return answer(out, [&] { return certify(text(path, "path"), options); });
}
