#include "support/file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "support/error.hpp"

namespace tyche {

namespace {
struct Closer {
  void operator()(std::FILE* file) const {
    if (file != nullptr) std::fclose(file);
  }
};
}  // namespace

std::string read_file(const std::filesystem::path& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    throw InputError::at(path.string(), "", "is a folder; a file was expected");
  }
  const std::unique_ptr<std::FILE, Closer> file(std::fopen(path.c_str(), "rb"));
  if (!file) throw IoError::from_errno(path.string(), "open for reading", errno);
  std::string bytes;
  char buffer[1 << 16];
  for (;;) {
    const std::size_t got = std::fread(buffer, 1, sizeof buffer, file.get());
    bytes.append(buffer, got);
    if (got < sizeof buffer) break;
  }
  if (std::ferror(file.get()) != 0) throw IoError::from_errno(path.string(), "read", errno);
  return bytes;
}

AtomicFile::AtomicFile(std::filesystem::path path)
    : path_(std::move(path)), temporary_(path_.string() + fmt::format(".tmp-{}", ::getpid())) {
  file_ = std::fopen(temporary_.c_str(), "wb");
  if (file_ == nullptr) throw IoError::from_errno(path_.string(), "open for writing", errno);
}

AtomicFile::~AtomicFile() {
  if (file_ == nullptr) return;
  std::fclose(file_);
  std::error_code ignored;
  std::filesystem::remove(temporary_, ignored);
}

void AtomicFile::write(std::string_view bytes) {
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) {
    throw IoError::from_errno(path_.string(), "write", errno);
  }
  written_ += bytes.size();
}

void AtomicFile::commit() {
  if (std::fflush(file_) != 0 || ::fsync(::fileno(file_)) != 0)
    throw IoError::from_errno(path_.string(), "write", errno);
  const bool closed = std::fclose(file_) == 0;
  const int close_error = errno;
  file_ = nullptr;
  std::error_code error;
  if (!closed) {
    std::filesystem::remove(temporary_, error);
    throw IoError::from_errno(path_.string(), "write", close_error);
  }
  std::filesystem::rename(temporary_, path_, error);
  if (error) {
    std::error_code ignored;
    std::filesystem::remove(temporary_, ignored);
    throw IoError::from_errno(path_.string(), "put in place", error.value());
  }
}

void write_file(const std::filesystem::path& path, std::string_view bytes) {
  AtomicFile file(path);
  file.write(bytes);
  file.commit();
}

void make_folder(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error || !std::filesystem::is_directory(path)) {
    throw IoError::from_errno(path.string(), "make this folder", error ? error.value() : ENOTDIR);
  }
}

std::vector<std::string> list_folder(const std::filesystem::path& path) {
  std::vector<std::string> names;
  std::error_code error;
  std::filesystem::directory_iterator at(path, error);
  while (!error && at != std::filesystem::directory_iterator()) {
    names.push_back(at->path().filename().string());
    at.increment(error);
  }
  if (error) throw IoError::from_errno(path.string(), "read this folder", error.value());
  std::sort(names.begin(), names.end());
  return names;
}

std::uint64_t hash_bytes(std::string_view bytes, std::uint64_t basis) {
  std::uint64_t hash = basis;
  for (const char c : bytes) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3ull;
  }
  return hash;
}

}  // namespace tyche
