#pragma once
/// Files read whole and written so that a reader never sees half of one.
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tyche {

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using OpenFile = std::unique_ptr<std::FILE, CloseFile>;
/// A file to be read. Throws IoError if it cannot be, InputError if it is a folder.
[[nodiscard]] OpenFile open_file(const std::filesystem::path& path);
/// The bytes of a file. Throws likewise.
[[nodiscard]] std::string read_file(const std::filesystem::path& path);

/// How far a write goes before it counts as done: to the system (survives a kill of the program), or to the disk
/// (survives a power cut too, at the price of waiting for the disk).
enum class Durability { system, disk };

/// A file that appears under its name only when commit() has succeeded: bytes go to "NAME.tmp-PID" beside it, commit()
/// flushes them and renames. A full disk or a kill at any moment leaves what stood under the name before; destruction
/// without commit removes the temporary file. All members throw IoError with the file's name.
class AtomicFile {
 public:
  explicit AtomicFile(std::filesystem::path path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::string_view bytes);
  /// Flushes what was written: after this only the renaming can fail. For files that must appear together.
  void settle(Durability durability = Durability::disk);
  void commit(Durability durability = Durability::disk);
  [[nodiscard]] std::uint64_t written() const { return written_; }

 private:
  std::filesystem::path path_;
  std::filesystem::path temporary_;
  std::FILE* file_ = nullptr;
  std::uint64_t written_ = 0;
};

/// AtomicFile in one call.
void write_file(const std::filesystem::path& path, std::string_view bytes, Durability durability = Durability::disk);

/// A file that grows line by line. Each line is handed to the system in one call: a kill between calls leaves whole
/// lines, and a line that does not fit on the disk is taken back. All members throw IoError with the file's name.
class LineLog {
 public:
  /// Opens the file (made where there is none) and cuts it to its first `keep` bytes.
  LineLog(std::filesystem::path path, std::uint64_t keep);
  ~LineLog();
  LineLog(const LineLog&) = delete;
  LineLog& operator=(const LineLog&) = delete;

  /// `line` without its newline.
  void append(std::string_view line);
  /// Waits until all lines are on the disk.
  void sync();

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
};

/// A lock on a folder that one process at a time can hold; it goes with the process, however that ends.
class FolderLock {
 public:
  /// Throws InputError "FOLDER: is in use by another process" where it is held, IoError where it cannot be opened.
  explicit FolderLock(const std::filesystem::path& folder);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int descriptor_ = -1;
};

/// Whether a path is named as an AtomicFile names what it has not put in place yet.
[[nodiscard]] bool is_temporary(const std::filesystem::path& path);

/// Removes what killed processes left of AtomicFiles in a folder; a folder that is not there is fine. Only for who
/// holds the folder's lock: a living process may be writing such a file.
void remove_temporaries(const std::filesystem::path& folder);

/// Makes a folder and its parents; an existing folder is fine, an existing file is an IoError.
void make_folder(const std::filesystem::path& path);

/// The names of what is in a folder, ascending. Throws IoError where it cannot be read.
[[nodiscard]] std::vector<std::string> list_folder(const std::filesystem::path& path);

/// A 64-bit hash of bytes (FNV-1a), for telling data apart in records. Never a proof of equality.
[[nodiscard]] std::uint64_t hash_bytes(std::string_view bytes, std::uint64_t basis = 0xcbf29ce484222325ull);

}  // namespace tyche
