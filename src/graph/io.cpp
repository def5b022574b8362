#include "graph/io.hpp"

#include <algorithm>
#include <array>
#include <cerrno>

#include "graph/formats.hpp"
#include "graph/gin.hpp"
#include "graph/jsonl.hpp"
#include "graph/packed.hpp"
#include "support/error.hpp"
#include "support/file.hpp"
#include "support/remedy.hpp"

namespace tyche {

namespace {

GraphSet parse_dimacs_file(std::string_view bytes, std::string_view name, Cleaning*) {
  GraphSet set;
  set.graphs.push_back(parse_dimacs_graph(bytes, name));
  return set;
}

GraphSet parse_csv_edges(std::string_view bytes, std::string_view name, Cleaning* cleaning) {
  return parse_csv({.edges = std::string(bytes)}, name, cleaning);
}

struct Known {
  Format format;
  std::string_view name;
  bool written;
  GraphSet (*parse)(std::string_view bytes, std::string_view name, Cleaning* cleaning);
  std::array<std::string_view, 2> extensions{};
  std::string_view magic{};  ///< with which all of its files begin
};

/// In the order of Format. No extension for GIN text: .txt says nothing, graph6 lines go by it too.
constexpr Known kFormats[] = {
    {Format::gin, "gin", true, parse_gin},
    {Format::graph6, "graph6", true, parse_graph6, {".g6"}, ">>graph6<<"},
    {Format::sparse6, "sparse6", true, parse_graph6, {".s6"}, ">>sparse6<<"},
    {Format::tu, "tu", true, nullptr},
    {Format::dimacs, "dimacs", true, parse_dimacs_file, {".cnf", ".dimacs"}},
    {Format::planar_code, "planar_code", false, parse_planar_code, {".pc", ".plc"}, ">>planar_code"},
    {Format::npy, "npy", false, parse_npy, {".npy"}, "\x93NUMPY"},
    {Format::npz, "npz", false, parse_npz, {".npz"}},
    {Format::jsonl, "jsonl", true, parse_jsonl, {".jsonl", ".ndjson"}},
    {Format::graphml, "graphml", false, parse_graphml, {".graphml"}},
    {Format::csv, "csv", false, parse_csv_edges, {".csv"}},
    {Format::packed, "packed", true, parse_packed, {".tyche"}, kPackedMagic},
};

const Known& known(Format format) { return kFormats[static_cast<std::size_t>(format)]; }

std::string format_names() {
  std::string out;
  for (const Known& own : kFormats) out += (out.empty() ? "" : ", ") + std::string(own.name);
  return out;
}

/// A file that is empty or compressed is no graph file of any format.
void refuse_empty_and_compressed(std::string_view bytes, std::string_view name) {
  if (bytes.empty()) throw InputError::at(name, "", "the file is empty");
  struct Compression {
    std::string_view magic;
    const char* what;
    const char* tool;
  };
  constexpr Compression kCompressions[] = {{"\x1f\x8b", "gzip", "gunzip"},
                                           {"PK\x03\x04", "zip", "unzip"},
                                           {"\xfd\x37zXZ", "xz", "unxz"},
                                           {"\x28\xb5\x2f\xfd", "zstd", "unzstd"}};
  for (const auto& [magic, what, tool] : kCompressions) {
    if (!bytes.starts_with(magic) || (tool == std::string_view("unzip") && is_npz(bytes))) continue;
    throw InputError::at(name, "byte 0", "the file is compressed ({}); unpack it with {} first", what, tool);
  }
}

/// The folder's own name, also where the path ends in a slash or is ".".
std::string folder_name(const std::filesystem::path& folder) {
  std::error_code ignored;
  std::filesystem::path full = std::filesystem::absolute(folder, ignored).lexically_normal();
  if (full.filename().empty()) full = full.parent_path();
  return full.filename().string();
}

GraphSource locate_in_folder(const std::filesystem::path& folder, std::optional<Format> format) {
  const std::filesystem::path gin = folder / "graphs.txt";
  if (format) return {*format == Format::gin ? gin : folder, *format};
  const std::vector<std::string> names = list_folder(folder);
  const auto any = [&names](auto fits) { return std::any_of(names.begin(), names.end(), fits); };
  for (const GraphSource& one : {GraphSource{gin, Format::gin}, GraphSource{folder / "graphs.jsonl", Format::jsonl}}) {
    if (any([&](const std::string& name) { return name == one.path.filename(); })) return one;
  }
  if (any([](const std::string& name) { return name.ends_with("_A.txt"); })) return {folder, Format::tu};
  for (const Format one : {Format::dimacs, Format::graphml}) {
    if (any([&](const std::string& name) { return format_of_extension(name) == one; })) return {folder, one};
  }
  throw InputError::at(
      folder.string(), "",
      "a folder of graphs holds graphs.txt or graphs.jsonl, a TUDataset (DS_A.txt and its like), .cnf or .graphml "
      "files; this one holds none of them");
}

/// Requires what every writer relies on.
void check_set(const GraphSet& set) {
  const std::size_t graphs = set.graphs.size();
  if (graphs == 0) throw InputError("there are no graphs to write");
  if (!set.labels.empty() && set.labels.size() != graphs) {
    throw InputError("the set has {} labels for {} graphs", set.labels.size(), graphs);
  }
  const struct {
    const char* what;
    const Ragged<float>& blocks;
    std::size_t dim;
    bool nodes;
  } numbers[] = {{"", set.attributes, set.attribute_dim, true},
                 {"edge ", set.edge_attributes, set.edge_attribute_dim, false},
                 {"node target ", set.node_targets, set.node_target_dim, true},
                 {"edge target ", set.edge_targets, set.edge_target_dim, false}};
  for (const auto& [what, blocks, dim, nodes] : numbers) {
    if ((dim == 0) != blocks.empty() || (!blocks.empty() && blocks.size() != graphs)) {
      throw InputError("the set has {}attributes of dimension {} for {} of {} graphs", what, dim, blocks.size(),
                       graphs);
    }
    for (std::size_t g = 0; g < blocks.size(); ++g) {
      const std::uint64_t wanted = (nodes ? set.graphs.num_nodes(g) : set.graphs.num_edges(g)) * dim;
      if (blocks[g].size() == wanted) continue;
      throw InputError("graph {} has {} {}attribute values; it needs {}", g, blocks[g].size(), what, wanted);
    }
  }
  if (set.categories > set.attribute_dim || set.edge_categories > set.edge_attribute_dim) {
    throw InputError("the set has more columns of categories than of attributes");
  }
  for (std::size_t g = 0; g < set.node_labels.size(); ++g) {
    if (set.node_labels.size() == graphs && set.node_labels[g].size() == set.graphs.num_nodes(g)) continue;
    throw InputError("graph {} has {} node labels for {} nodes", g, set.node_labels[g].size(),
                     g < graphs ? set.graphs.num_nodes(g) : 0);
  }
  if ((set.target_dim == 0) != set.targets.empty() || set.targets.size() != graphs * set.target_dim) {
    throw InputError("the set has {} targets for {} graphs with {} each", set.targets.size(), graphs, set.target_dim);
  }
}

}  // namespace

std::vector<float> side_by_side(std::vector<float> left, std::size_t a, const std::vector<float>& right,
                                std::size_t b) {
  if (b == 0) return left;
  if (a == 0) return right;
  std::vector<float> out;
  out.reserve(left.size() + right.size());
  for (std::size_t l = 0, r = 0; l < left.size(); l += a, r += b) {
    for (std::size_t c = 0; c < a; ++c) out.push_back(left[l + c]);
    for (std::size_t c = 0; c < b; ++c) out.push_back(right[r + c]);
  }
  return out;
}

Format parse_format(std::string_view name) {
  const auto found = std::ranges::find(kFormats, name, &Known::name);
  if (found != std::end(kFormats)) return found->format;
  throw InputError("unknown format {}; known are {}", shown(name), format_names());
}

std::string_view format_name(Format format) { return known(format).name; }

std::optional<Format> format_of_extension(const std::filesystem::path& file) {
  const std::string extension = file.extension();
  for (const Known& own : kFormats) {
    if (!extension.empty() && std::ranges::find(own.extensions, extension) != own.extensions.end()) return own.format;
  }
  return std::nullopt;
}

Format detect_format(std::string_view head, std::string_view name) {
  refuse_empty_and_compressed(head, name);
  if (is_npz(head)) return Format::npz;
  for (const Known& own : kFormats) {
    if (!own.magic.empty() && head.starts_with(own.magic)) return own.format;
  }
  if (const auto format = format_of_extension(std::filesystem::path(name))) return *format;

  // No text has a NUL, and no graph in planar_code goes without one.
  if (head.find('\0') != std::string_view::npos) return Format::planar_code;
  std::string_view line = head.substr(0, head.find('\n'));
  if (line.ends_with('\r')) line.remove_suffix(1);
  const std::string_view words = line.substr(std::min(line.find_first_not_of(" \t"), line.size()));
  if (words == "c" || words.starts_with("c ") || words.starts_with("c\t") || words.starts_with("p ")) {
    return Format::dimacs;
  }
  if (line.starts_with(':')) return Format::sparse6;
  if (words.starts_with("{") && words.find('"') != std::string_view::npos) return Format::jsonl;
  if (words.starts_with("<?xml") || words.starts_with("<graphml")) return Format::graphml;
  if (words.find("source") != std::string_view::npos && words.find(',') != std::string_view::npos) return Format::csv;
  if (!words.empty() && words.find_first_not_of("0123456789 \t") == std::string_view::npos) return Format::gin;
  if (!line.empty() && std::all_of(line.begin(), line.end(), [](char c) { return c >= '?' && c <= '~'; })) {
    return Format::graph6;
  }
  if (name.ends_with("_A.txt")) throw InputError::at(name, "", "is a member of a TUDataset; give its folder");
  throw Remedied(
      InputError::at(name, "line 1", "cannot tell the format from {}; known are {}", shown(line), format_names()),
      Remedy::name_format);
}

GraphSource locate_graphs(const std::filesystem::path& path, std::optional<Format> format) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return locate_in_folder(path, format);
  if (format) return {path, *format};
  const OpenFile file = open_file(path);
  std::string head(std::size_t{1} << 16, '\0');
  head.resize(std::fread(head.data(), 1, head.size(), file.get()));
  if (std::ferror(file.get()) != 0) throw IoError::from_errno(path.string(), "read", errno);
  return {path, detect_format(head, path.string())};
}

GraphSet parse_graphs(std::string_view bytes, std::string_view name, std::optional<Format> format, Cleaning* cleaning) {
  refuse_empty_and_compressed(bytes, name);
  const Format found = format ? *format : detect_format(bytes.substr(0, std::size_t{1} << 16), name);
  if (known(found).parse == nullptr) {
    throw InputError::at(name, "", "is a file; a TUDataset is a folder of files DS_A.txt, DS_graph_indicator.txt, …");
  }
  GraphSet set = known(found).parse(bytes, name, cleaning);
  set.name = std::filesystem::path(name).stem().string();
  return set;
}

GraphSet read_graphs(const std::filesystem::path& path, std::optional<Format> format, Cleaning* cleaning) {
  std::error_code ignored;
  const bool folder = std::filesystem::is_directory(path, ignored);
  // A pipe can be read once.
  if (!folder && !std::filesystem::is_regular_file(path, ignored)) {
    return parse_graphs(read_file(path), path.string(), format, cleaning);
  }
  const GraphSource source = locate_graphs(path, format);
  GraphSet set;
  if (folder && source.format == Format::tu) return read_tu(path, cleaning);
  if (folder && source.format == Format::dimacs) {
    set = read_dimacs_folder(path);
  } else if (folder && source.format == Format::graphml) {
    set = read_graphml_folder(path, cleaning);
  } else if (source.format == Format::jsonl) {
    set = read_jsonl(source.path, cleaning);  // line by line: the text is never whole in memory
  } else if (source.format == Format::csv) {
    set = read_csv(source.path, cleaning);
  } else if (source.format == Format::packed) {
    set = open_packed(source.path);
  } else {
    set = parse_graphs(read_file(source.path), source.path.string(), source.format, cleaning);
  }
  set.name = folder ? folder_name(path) : path.stem().string();
  return set;
}

void write_graphs(const std::filesystem::path& path, const GraphSet& set, Format format) {
  check_set(set);
  if (set.weighted && format == Format::tu) {
    throw InputError("a TUDataset has labels of edges and no weights; jsonl holds them");
  }
  if (!known(format).written) {
    throw InputError("format {} is read only; gin, graph6, sparse6, tu, dimacs, jsonl and packed can be written",
                     format_name(format));
  }
  if (format == Format::tu) return write_tu(path, set);
  if (format == Format::dimacs) return write_dimacs(path, set);
  if (format == Format::packed) return write_packed(path, set);
  AtomicFile file(path);
  if (format == Format::gin) file.write(gin_header(set.graphs.size()));
  for (std::size_t g = 0; g < set.graphs.size(); ++g) {
    const Graph& graph = set.graphs[g];
    if (format == Format::gin) {
      file.write(gin_text(graph, set.labels.empty() ? 0 : set.labels[g]));
    } else if (format == Format::jsonl) {
      file.write(jsonl_line(set, g));
    } else {
      file.write((format == Format::graph6 ? to_graph6(graph) : to_sparse6(graph)) + "\n");
    }
  }
  file.commit();
}

}  // namespace tyche
