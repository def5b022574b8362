# The headers that are installed: what a program that uses the library includes, and what those include. Everything else
# (kernels, caches, recorders) can change without notice. tests/install compiles each of them alone.
set(TYCHE_PUBLIC_HEADERS
  # graphs, formulas, readers and writers
  graph/graph.hpp graph/io.hpp graph/encoding.hpp graph/isomorphism.hpp graph/planarity.hpp
  graph/named.hpp graph/jsonl.hpp graph/packed.hpp logic/cnf.hpp logic/sat.hpp
  # the Weisfeiler-Leman tests
  wl/wl.hpp wl/colour_refinement.hpp wl/individualise.hpp wl/leaf_compare.hpp
  # data sets
  datasets/dataset.hpp datasets/recipe.hpp datasets/exp.hpp datasets/tseitin.hpp datasets/csl.hpp datasets/generate.hpp
  datasets/certificate.hpp datasets/folds.hpp datasets/split.hpp
  # models and engines
  nn/model.hpp nn/kinds.hpp nn/program.hpp nn/random_inputs.hpp engine/engine.hpp engine/choice.hpp
  # training and prediction
  train/config.hpp train/data.hpp train/run.hpp train/summary.hpp train/checkpoint.hpp train/predict.hpp train/parts.hpp
  # the universality theorem
  theory/formula.hpp theory/syntax.hpp theory/coloured_graph.hpp theory/model_check.hpp theory/compile.hpp
  theory/acr.hpp theory/acr_io.hpp theory/individualise.hpp theory/separate.hpp theory/graph_functions.hpp
  theory/universal.hpp
  # errors, random numbers, threads' progress
  support/error.hpp support/random.hpp support/progress.hpp support/statistics.hpp)
# What those include.
set(TYCHE_INCLUDED_HEADERS
  datasets/planar_draw.hpp datasets/tasks.hpp engine/core/both.hpp engine/core/job.hpp
  engine/core/targets.hpp graph/assembly.hpp graph/gin.hpp graph/graphs.hpp graph/lines.hpp graph/units.hpp
  nn/choices.hpp support/file.hpp support/intern.hpp support/named_values.hpp support/npy.hpp support/peers.hpp
  support/words.hpp train/features.hpp train/metrics.hpp train/objective.hpp wl/rank_refiner.hpp wl/refining.hpp)
foreach(header ${TYCHE_PUBLIC_HEADERS} ${TYCHE_INCLUDED_HEADERS})
  get_filename_component(folder ${header} DIRECTORY)
  install(FILES src/${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tyche/${folder})
endforeach()
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/generated/support/version.hpp
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tyche/support)
