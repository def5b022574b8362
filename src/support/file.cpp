#include "support/file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "support/error.hpp"

namespace tyche {

namespace {
constexpr const char* kTemporary = ".tmp-";  // followed by a process's number
}  // namespace

OpenFile open_file(const std::filesystem::path& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    throw InputError::at(path.string(), "", "is a folder; a file was expected");
  }
  OpenFile file(std::fopen(path.c_str(), "rb"));
  if (!file) throw IoError::from_errno(path.string(), "open for reading", errno);
  return file;
}

std::string read_file(const std::filesystem::path& path) {
  const OpenFile file = open_file(path);
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
    : path_(std::move(path)), temporary_(path_.string() + fmt::format("{}{}", kTemporary, ::getpid())) {
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

void AtomicFile::settle(Durability durability) {
  if (std::fflush(file_) != 0 || (durability == Durability::disk && ::fsync(::fileno(file_)) != 0))
    throw IoError::from_errno(path_.string(), "write", errno);
}

void AtomicFile::commit(Durability durability) {
  settle(durability);
  const auto give_up = [&](const char* action, int error_number) {
    std::error_code ignored;
    std::filesystem::remove(temporary_, ignored);
    throw IoError::from_errno(path_.string(), action, error_number);
  };
  if (std::fclose(std::exchange(file_, nullptr)) != 0) give_up("write", errno);
  std::error_code error;
  std::filesystem::rename(temporary_, path_, error);
  if (error) give_up("put in place", error.value());
}

void write_file(const std::filesystem::path& path, std::string_view bytes, Durability durability) {
  AtomicFile file(path);
  file.write(bytes);
  file.commit(durability);
}

LineLog::LineLog(std::filesystem::path path, std::uint64_t keep)
    : path_(std::move(path)), descriptor_(::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666)) {
  if (descriptor_ < 0) throw IoError::from_errno(path_.string(), "open for writing", errno);
  const auto end = ::lseek(descriptor_, 0, SEEK_END);
  size_ = end < 0 ? 0 : static_cast<std::uint64_t>(end);
  const bool cut = size_ > keep;
  if (cut) size_ = keep;
  if (end < 0 || (cut && ::ftruncate(descriptor_, static_cast<off_t>(size_)) != 0)) {
    const int error = errno;
    ::close(descriptor_);
    throw IoError::from_errno(path_.string(), "cut to its last good line", error);
  }
}

LineLog::~LineLog() { ::close(descriptor_); }

void LineLog::append(std::string_view line) {
  std::string bytes(line);
  bytes += '\n';
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t wrote = ::write(descriptor_, bytes.data() + done, bytes.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) {
      const int error = wrote < 0 ? errno : ENOSPC;
      // Half a line helps nobody; if even this fails, readers still know a torn last line by its missing newline.
      [[maybe_unused]] const int ignored = ::ftruncate(descriptor_, static_cast<off_t>(size_));
      throw IoError::from_errno(path_.string(), "write", error);
    }
    done += static_cast<std::size_t>(wrote);
  }
  size_ += bytes.size();
}

void LineLog::sync() {
  // A pipe or a device that cannot be synchronised has nothing to lose: only a disk's refusal counts.
  if (::fsync(descriptor_) != 0 && errno != EINVAL && errno != EROFS) {
    throw IoError::from_errno(path_.string(), "write", errno);
  }
}

FolderLock::FolderLock(const std::filesystem::path& folder)
    : descriptor_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  if (descriptor_ < 0) throw IoError::from_errno(folder.string(), "open this folder", errno);
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
    const int error = errno;
    ::close(descriptor_);
    descriptor_ = -1;
    if (error == EWOULDBLOCK) {
      throw InputError::at(folder.string(), "", "is in use by another process; wait for it or name another folder");
    }
    // A file system without locks: go on, as every program did before there were locks.
  }
}

FolderLock::~FolderLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

bool is_temporary(const std::filesystem::path& path) {
  return path.filename().string().find(kTemporary) != std::string::npos;
}

void remove_temporaries(const std::filesystem::path& folder) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    if (is_temporary(entry.path())) std::filesystem::remove(entry.path(), ignored);
  }
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
  std::ranges::sort(names);
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
