#pragma once
/// Tensors by name in one file, in the safetensors format (8 bytes little-endian header length, a JSON header, raw
/// little-endian data), which PyTorch users can load.
///
///   TensorFile file;
///   file.metadata["seed"] = "7";
///   file.add<float>("head.fc1.weight", {64, 64}, values);
///   file.write("last.safetensors");                       // atomically
///   const TensorFile again = TensorFile::read("last.safetensors");
///   std::vector<float> w = again.get<float>("head.fc1.weight", {64, 64});
///
/// Files are not trusted: read() checks every length and offset and never allocates more than a small multiple of the
/// file's size. What write() makes carries a checksum ("tyche.check" in its metadata, which readers do not see); files
/// without one, of other programs and of 0.1.0, are read as they are.
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace tyche {

/// Element types that can be read and written as C++ values; other types of the format are kept as bytes.
template <class T>
inline constexpr std::string_view kDtypeName = std::is_same_v<T, float>           ? "F32"
                                               : std::is_same_v<T, double>        ? "F64"
                                               : std::is_same_v<T, std::int32_t>  ? "I32"
                                               : std::is_same_v<T, std::int64_t>  ? "I64"
                                               : std::is_same_v<T, std::uint8_t>  ? "U8"
                                               : std::is_same_v<T, std::uint64_t> ? "U64"
                                                                                  : "";

class TensorFile {
 public:
  struct Entry {
    std::string name;
    std::string dtype;  ///< as the format spells it: "F32", "I64", …
    std::vector<std::size_t> shape;
    std::string bytes;  ///< row-major
  };

  /// Free text, stored under "__metadata__".
  std::map<std::string, std::string> metadata;

  /// Throws InputError ("FILE: header: …") on bytes that are no safetensors file, IoError if it cannot be read.
  [[nodiscard]] static TensorFile read(const std::filesystem::path& path);
  /// The same from memory; `name` stands for the file in errors.
  [[nodiscard]] static TensorFile parse(std::string_view bytes, std::string_view name);

  /// Appends a tensor. Requires values.size() to be the product of `shape` and a name not yet there (InputError
  /// otherwise).
  template <class T>
  void add(std::string name, std::vector<std::size_t> shape, std::span<const T> values) {
    add_bytes(std::move(name), std::string(kDtypeName<T>), std::move(shape),
              {reinterpret_cast<const char*>(values.data()), values.size_bytes()}, sizeof(T));
  }

  [[nodiscard]] bool has(std::string_view name) const { return find(name) != nullptr; }
  /// Throws InputError that names the file's tensors where there is none of this name.
  [[nodiscard]] const Entry& at(std::string_view name) const;
  /// In the order of the file.
  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }

  /// The values of a tensor. Throws InputError if it is absent or of another type.
  template <class T>
  [[nodiscard]] std::vector<T> get(std::string_view name) const {
    return values_of<T>(checked(name, kDtypeName<T>, nullptr));
  }
  /// Likewise, and the shape must be `shape`.
  template <class T>
  [[nodiscard]] std::vector<T> get(std::string_view name, const std::vector<std::size_t>& shape) const {
    return values_of<T>(checked(name, kDtypeName<T>, &shape));
  }

  /// The bytes of the file. A reader of the format's own library accepts them.
  [[nodiscard]] std::string serialise() const;
  /// serialise() into a file that appears whole or not at all. Throws IoError.
  void write(const std::filesystem::path& path) const;

 private:
  [[nodiscard]] const Entry* find(std::string_view name) const;
  void add_bytes(std::string name, std::string dtype, std::vector<std::size_t> shape, std::string_view bytes,
                 std::size_t item);
  template <class T>
  [[nodiscard]] static std::vector<T> values_of(const Entry& entry) {
    std::vector<T> values(entry.bytes.size() / sizeof(T));
    entry.bytes.copy(reinterpret_cast<char*>(values.data()), entry.bytes.size());
    return values;
  }
  [[nodiscard]] const Entry& checked(std::string_view name, std::string_view dtype,
                                     const std::vector<std::size_t>* shape) const;

  std::string origin_ = "tensors in memory";
  std::vector<Entry> entries_;
};

}  // namespace tyche
