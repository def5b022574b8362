#pragma once
/// The commit the program was built from; cmake/TycheCommit.cmake writes the definitions.
namespace tyche::cli {

extern const char* const kCommit;      ///< "91a9c0e", or "unknown" outside a git repository
extern const char* const kCommitDate;  ///< "2026-11-15", or ""

}  // namespace tyche::cli
