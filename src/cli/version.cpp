#include "support/version.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/commit.hpp"
#include "engine/cpu/kernels.hpp"
#include "engine/engine.hpp"
#include "support/ranks.hpp"
#include "support/share.hpp"

namespace tyche::cli {

namespace {

std::string compiler() {
#ifdef __clang__
  return fmt::format("clang {}.{}.{}", __clang_major__, __clang_minor__, __clang_patchlevel__);
#else
  return fmt::format("g++ {}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#endif
}

bool has_page() { return has_shared_file("report.html"); }

}  // namespace

std::string version_text() {
  std::string commit = kCommit;
  if (*kCommitDate != '\0') commit += fmt::format(", {}", kCommitDate);
  const engine::GpuState gpu = engine::gpu_state();
  return fmt::format(
      "tyche {}\n"
      "commit    {}\n"
      "engine    {}\n"
      "kernels   built for {}; here {}\n"
      "gpu       {}\n"
      "mpi       {}\n"
      "page      {}\n"
      "compiler  {}",
      kVersion, commit, engine::make_engine("auto", 0)->description(), fmt::join(engine::cpu::built_kernels(), ", "),
      engine::cpu::kernels_for("auto").name, gpu.usable ? gpu.text : fmt::format("none: {}", gpu.text),
      built_with_mpi() ? "yes" : "no: built without it", has_page() ? "yes" : "no: built without Node", compiler());
}

std::string version_json() {
  const engine::GpuState gpu = engine::gpu_state();
  const nlohmann::ordered_json json = {{"version", kVersion},
                                       {"commit", kCommit},
                                       {"date", kCommitDate},
                                       {"engine", engine::make_engine("auto", 0)->description()},
                                       {"engines", engine::engine_names()},
                                       {"kernels_built", engine::cpu::built_kernels()},
                                       {"kernels", engine::cpu::kernels_for("auto").name},
                                       {"gpu", {{"usable", gpu.usable}, {"text", gpu.text}}},
                                       {"mpi", built_with_mpi()},
                                       {"page", has_page()},
                                       {"compiler", compiler()}};
  return json.dump(2);
}

}  // namespace tyche::cli
