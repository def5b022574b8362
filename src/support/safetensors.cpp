#include "support/safetensors.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>

#include "support/error.hpp"
#include "support/file.hpp"
#include "support/seal.hpp"

namespace tyche {

static_assert(std::endian::native == std::endian::little, "safetensors data is little-endian and is copied as it is");

namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kMetadata = "__metadata__";
constexpr const char* kCheck = "tyche.check";  // in the metadata of files that tyche writes

// Bytes of an element; 0 for a type the format does not have.
std::size_t item_size(std::string_view dtype) {
  static const std::map<std::string_view, std::size_t> sizes = {
      {"BOOL", 1}, {"U8", 1},  {"I8", 1},  {"U16", 2}, {"I16", 2}, {"F16", 2}, {"BF16", 2},
      {"U32", 4},  {"I32", 4}, {"F32", 4}, {"U64", 8}, {"I64", 8}, {"F64", 8}};
  const auto found = sizes.find(dtype);
  return found == sizes.end() ? 0 : found->second;
}

/// Product of a shape times `item`; nothing where it leaves 64 bits.
std::optional<std::size_t> byte_count(const std::vector<std::size_t>& shape, std::size_t item) {
  for (const std::size_t extent : shape) {
    if (__builtin_mul_overflow(item, extent, &item)) return std::nullopt;
  }
  return item;
}

/// A checksum of all that a file says, whatever the order of its tensors: Python's library stores them in one of its
/// own.
std::string check_of(const std::map<std::string, std::string>& metadata,
                     const std::vector<TensorFile::Entry>& entries) {
  std::map<std::string_view, const TensorFile::Entry*> sorted;
  for (const TensorFile::Entry& entry : entries) sorted.emplace(entry.name, &entry);
  std::string text;
  for (const auto& item : metadata) {
    if (item.first != kCheck) text += fmt::format("{}\n{}\n", item.first, item.second);
  }
  for (const auto& [name, entry] : sorted) {
    text +=
        fmt::format("{}\n{}\n{}\n{:016x}\n", name, entry->dtype, fmt::join(entry->shape, ","), checksum(entry->bytes));
  }
  return fmt::format("{:016x}", checksum(text));
}

struct Place {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t entry = 0;
};

}  // namespace

TensorFile TensorFile::read(const std::filesystem::path& path) { return parse(read_file(path), path.string()); }

TensorFile TensorFile::parse(std::string_view bytes, std::string_view name) {
  const auto fail = [&]<class... T>(fmt::format_string<T...> text, T&&... values) {
    return InputError::at(name, "header", fmt::format(text, std::forward<T>(values)...));
  };
  std::uint64_t length = 0;
  if (bytes.size() < sizeof length) {
    throw fail("expected a safetensors file (8 bytes of header length first), found {} bytes in all", bytes.size());
  }
  std::memcpy(&length, bytes.data(), sizeof length);
  if (length > bytes.size() - sizeof length) {
    throw fail("claims {} bytes, but only {} follow; is this a safetensors file, and whole?", length,
               bytes.size() - sizeof length);
  }
  const std::string_view data = bytes.substr(sizeof length + length);
  Json header;
  try {
    header = Json::parse(bytes.substr(sizeof length, length));
  } catch (const Json::exception& error) {
    throw fail("is not JSON: {}", error.what());
  }
  if (!header.is_object()) throw fail("expected a JSON object of tensors");

  TensorFile file;
  file.origin_ = name;
  std::vector<Place> places;
  for (const auto& item : header.items()) {
    const std::string& key = item.key();
    const Json& value = item.value();
    const auto bad = [&](std::string_view what) { return fail("tensor '{}': {}", key, what); };
    if (key == kMetadata) {
      if (!value.is_object()) throw bad("expected an object of strings");
      for (const auto& [meta, text] : value.items()) {
        if (!text.is_string()) throw bad(fmt::format("'{}' is not a string", meta));
        file.metadata[meta] = text.get<std::string>();
      }
      continue;
    }
    if (!value.is_object() || !value.contains("dtype") || !value.contains("shape") || !value.contains("data_offsets")) {
      throw bad("expected an object with dtype, shape and data_offsets");
    }
    const Json &dtype = value["dtype"], &shape = value["shape"], &offsets = value["data_offsets"];
    const auto natural = [](const Json& number) { return number.is_number_unsigned(); };
    if (!dtype.is_string() || item_size(dtype.get<std::string>()) == 0) {
      throw bad(fmt::format("dtype {} is unknown; expected one of F64, F32, I64, I32, U8, …", dtype.dump()));
    }
    if (!shape.is_array() || !std::all_of(shape.begin(), shape.end(), natural)) {
      throw bad("shape: expected an array of sizes");
    }
    if (!offsets.is_array() || offsets.size() != 2 || !natural(offsets[0]) || !natural(offsets[1])) {
      throw bad("data_offsets: expected [begin, end]");
    }
    Entry entry{key, dtype.get<std::string>(), shape.get<std::vector<std::size_t>>(), {}};
    const auto begin = offsets[0].get<std::size_t>();
    const auto end = offsets[1].get<std::size_t>();
    const auto expected = byte_count(entry.shape, item_size(entry.dtype));
    if (!expected) throw bad("shape: too large");
    if (begin > end || end > data.size() || end - begin != expected) {
      throw bad(fmt::format("data_offsets [{}, {}] do not fit shape [{}] of {} in {} bytes of data", begin, end,
                            fmt::join(entry.shape, ", "), entry.dtype, data.size()));
    }
    places.push_back({begin, end, file.entries_.size()});
    file.entries_.push_back(std::move(entry));
  }

  // The tensors must tile the data: no overlaps (which would let a small file ask for much memory) and no holes.
  std::ranges::sort(
      places, [](const Place& a, const Place& b) { return std::pair(a.begin, a.end) < std::pair(b.begin, b.end); });
  std::size_t covered = 0;
  for (const Place& place : places) {
    if (place.begin != covered) {
      throw fail("tensor '{}' begins at byte {} of the data, expected {}: tensors must follow one another",
                 file.entries_[place.entry].name, place.begin, covered);
    }
    covered = place.end;
    file.entries_[place.entry].bytes = data.substr(place.begin, place.end - place.begin);
  }
  if (covered != data.size()) {
    throw fail("the tensors cover {} bytes of {}: {} bytes too many follow", covered, data.size(),
               data.size() - covered);
  }
  if (const auto check = file.metadata.find(kCheck); check != file.metadata.end()) {
    if (check->second != check_of(file.metadata, file.entries_)) {
      throw InputError::at(name, "",
                           "is damaged: its checksum does not fit (who changed it on purpose takes '{}' out of "
                           "its metadata)",
                           kCheck);
    }
    file.metadata.erase(check);
  }
  return file;
}

const TensorFile::Entry* TensorFile::find(std::string_view name) const {
  const auto found = std::ranges::find(entries_, name, &Entry::name);
  return found == entries_.end() ? nullptr : &*found;
}

const TensorFile::Entry& TensorFile::at(std::string_view name) const {
  if (const Entry* entry = find(name)) return *entry;
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < std::min<std::size_t>(entries_.size(), 20); ++i) names.push_back(entries_[i].name);
  throw InputError::at(origin_, "", "no tensor '{}'; there are {}: {}{}", name, entries_.size(), fmt::join(names, ", "),
                       entries_.size() > names.size() ? ", …" : "");
}

const TensorFile::Entry& TensorFile::checked(std::string_view name, std::string_view dtype,
                                             const std::vector<std::size_t>* shape) const {
  const Entry& entry = at(name);
  if (entry.dtype != dtype) {
    throw InputError::at(origin_, "", "tensor '{}' is {}, expected {}", name, entry.dtype, dtype);
  }
  if (shape != nullptr && entry.shape != *shape) {
    throw InputError::at(origin_, "", "tensor '{}' has shape [{}], expected [{}]", name, fmt::join(entry.shape, ", "),
                         fmt::join(*shape, ", "));
  }
  return entry;
}

void TensorFile::add_bytes(std::string name, std::string dtype, std::vector<std::size_t> shape, std::string_view bytes,
                           std::size_t item) {
  const auto expected = byte_count(shape, item);
  if (expected != bytes.size()) {
    throw InputError::at(origin_, "", "tensor '{}' of shape [{}] wants {} bytes, {} were given", name,
                         fmt::join(shape, ", "), expected.value_or(0), bytes.size());
  }
  if (name == kMetadata || has(name)) throw InputError::at(origin_, "", "tensor '{}': the name is taken", name);
  entries_.push_back({std::move(name), std::move(dtype), std::move(shape), std::string(bytes)});
}

std::string TensorFile::serialise() const {
  Json header = Json::object();
  // Metadata may hold a path in any encoding: what is not UTF-8 is replaced, never an exception.
  const auto written = [](const std::string& text) {
    return Json::parse(Json(text).dump(-1, ' ', false, Json::error_handler_t::replace)).get<std::string>();
  };
  std::map<std::string, std::string> said;
  for (const auto& item : metadata) said[written(item.first)] = written(item.second);
  said[kCheck] = check_of(said, entries_);
  header[std::string(kMetadata)] = said;
  std::size_t offset = 0;
  for (const Entry& entry : entries_) {
    header[entry.name] = {
        {"dtype", entry.dtype}, {"shape", entry.shape}, {"data_offsets", {offset, offset + entry.bytes.size()}}};
    offset += entry.bytes.size();
  }
  std::string text = header.dump(-1, ' ', false, Json::error_handler_t::replace);
  text.append((8 - text.size() % 8) % 8, ' ');  // data then begins at a multiple of 8, as the format wants
  const std::uint64_t length = text.size();
  std::string out(reinterpret_cast<const char*>(&length), sizeof length);
  out.reserve(sizeof length + text.size() + offset);
  out += text;
  for (const Entry& entry : entries_) out += entry.bytes;
  return out;
}

void TensorFile::write(const std::filesystem::path& path) const { write_file(path, serialise()); }

}  // namespace tyche
