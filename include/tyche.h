/* The C interface of tyche: graphs, the Weisfeiler-Leman tests, networks with random node initialisation, the theorem.
 *
 *   tyche_handle exp = 0, answer = 0;
 *   const char* json = NULL;
 *   if (tyche_generate("exp", "{\"pairs\": 20, \"seed\": 1}", NULL, &exp) != TYCHE_OK) puts(tyche_error_message());
 *   tyche_wl(exp, 0, exp, 1, "{\"dim\": 2}", &answer);
 *   tyche_info(answer, &json, NULL);                         {"distinguished": true, "round": 1, ...}
 *   tyche_free(answer);
 *   tyche_free(exp);
 *
 * Rules
 * - Every function returns a tyche_status, but for the few that say otherwise. What went wrong is said by
 *   tyche_error_message() in the same thread, until its next call.
 * - Things live behind handles: numbers, none of which is ever used again. A freed or made-up handle is the error
 *   TYCHE_BAD_HANDLE, never a crash; 0 is no handle. Whatever a function puts behind `out` is yours to
 * tyche_free().
 * - What a handle has to say are a JSON text (tyche_info) and arrays by name (tyche_array_of). Both point into memory
 *   of the handle, are read-only, and stay until it is freed.
 * - Options are a JSON object by the names of the program's options ("lr", "eval_every" or "eval-every"; null: not
 *   given), or NULL for none. Unknown names are errors that suggest the nearest. Every long call takes "threads" (0:
 * all).
 * - Text is UTF-8, ended by a zero byte. Paths are text. NULL where text or an out-pointer is wanted is TYCHE_BAD_CALL.
 * - Calls may come from any thread, and at the same time. A handle may be read by several; free it when all are done.
 * - No exception and no C++ type crosses this header. The same seed gives the same bits on any number of threads.
 */
#ifndef TYCHE_H
#define TYCHE_H
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define TYCHE_API __attribute__((visibility("default")))
#else
#define TYCHE_API
#endif

/* Of this header. Functions are added under the same number; a function that changes its meaning raises it. */
#define TYCHE_ABI 1

#ifdef __cplusplus
extern "C" {
#endif

typedef uint64_t tyche_handle;

typedef enum tyche_status {
  TYCHE_OK = 0,
  TYCHE_BAD_INPUT = 1,  /* data, a file or an option is wrong: the message says what was expected and what came */
  TYCHE_IO_ERROR = 2,   /* the machine said no: a file that cannot be opened, a full disk */
  TYCHE_STOPPED = 3,    /* tyche_interrupt() ended the call */
  TYCHE_BAD_HANDLE = 4, /* freed, made up, or of another kind than the call wants */
  TYCHE_BAD_CALL = 5,   /* a null pointer, or a struct of another version */
  TYCHE_NO_MEMORY = 6,
  TYCHE_INTERNAL = 7 /* please report it */
} tyche_status;

/* ---- of the library itself */

/* TYCHE_ABI of the library that was loaded; compare it with the header's. */
TYCHE_API int tyche_abi(void);
/* "0.3.0". */
TYCHE_API const char* tyche_version(void);
/* What this thread's last failed call had to say; "" before there was one. Never NULL. */
TYCHE_API const char* tyche_error_message(void);
/* The number of the graph that it was about, or -1. */
TYCHE_API int64_t tyche_error_graph(void);
/* Asks all calls under way, in whichever thread, to end with TYCHE_STOPPED as soon as they can. May be called from a
 * signal handler. Calls that begin after the last of them has ended are not touched. */
TYCHE_API void tyche_interrupt(void);
/* Devices, and the options of training: {"engines": [...], "gpu": {...}, "train": [{"name", "also", "help",
 * "default"}, ...]}; "also" are other names that are taken for it. */
TYCHE_API tyche_status tyche_about(tyche_handle* out);

/* ---- of all handles */

TYCHE_API tyche_status tyche_free(tyche_handle handle);
/* How many handles are in use. */
TYCHE_API uint64_t tyche_live_handles(void);
/* `bytes` (without the zero byte) may be NULL. */
TYCHE_API tyche_status tyche_info(tyche_handle handle, const char** text, uint64_t* bytes);

typedef enum tyche_type {
  TYCHE_INT32 = 1,
  TYCHE_INT64 = 2,
  TYCHE_UINT32 = 3,
  TYCHE_UINT64 = 4,
  TYCHE_FLOAT32 = 5,
  TYCHE_FLOAT64 = 6
} tyche_type;

/* A row-major array of one or two dimensions. */
typedef struct tyche_array {
  const void* data; /* may be NULL where there are no elements */
  int32_t type;     /* a tyche_type */
  int32_t dimensions;
  uint64_t shape[2];
} tyche_array;

/* A wrong name is TYCHE_BAD_INPUT whose message lists the names there are. */
TYCHE_API tyche_status tyche_array_of(tyche_handle handle, const char* name, tyche_array* out);

/* ---- sets of graphs
 * A handle of a set says {"name", "graphs", "nodes", "edges", "labels", "attributes", ...} and has the arrays
 *   ptr         uint64, graphs + 1: nodes before each graph
 *   offsets     uint64, nodes + 1: where the neighbours of each node of the set begin
 *   neighbours  uint32, 2 * edges: neighbours by number within their own graph, ascending, every edge both ways
 *   types       uint32, nodes
 *   edge_index  int64, 2 x (2 * edges): sources in the first row, neighbours in the second, as PyTorch Geometric has it
 *   labels      int32, graphs (where there are any)
 *   targets     float32, graphs x columns (likewise, and so on)
 *   attributes  float32, nodes x columns
 *   edge_labels      uint32, 2 * edges: in the order of neighbours
 *   edge_attributes  float32, (2 * edges) x columns: likewise
 * which are made when first asked for. */

/* Graphs as arrays, all of them one after another. Set `size` to sizeof(tyche_graphs), and what is not there to NULL or
 * 0. Lengths are said twice (`nodes` is node_ptr[graphs]), so that a wrong one is an error. */
typedef struct tyche_graphs {
  uint64_t size;
  uint64_t graphs;
  uint64_t nodes;
  uint64_t edges;           /* entries of `from` and `to` */
  const uint64_t* node_ptr; /* graphs + 1, from 0 on: nodes before each graph */
  const uint64_t* edge_ptr; /* graphs + 1, likewise of edges */
  const int64_t* from;      /* edges: a number within its graph */
  const int64_t* to;
  int32_t both_ways; /* nonzero: every edge is there twice, once each way; 0: once, either way */
  int32_t attribute_columns;
  const uint32_t* types;        /* nodes, or NULL: all 0 */
  const float* attributes;      /* nodes x attribute_columns, or NULL */
  const int32_t* labels;        /* graphs, or NULL */
  const uint32_t* edge_labels;  /* edges, or NULL: all 0; equal on both ways of an edge */
  const float* edge_attributes; /* edges x edge_attribute_columns, or NULL; likewise */
  const float* targets;         /* graphs x target_columns real numbers, or NULL; NaN: missing */
  int32_t edge_attribute_columns;
  int32_t target_columns;
  const char* name; /* or NULL */
} tyche_graphs;

TYCHE_API tyche_status tyche_set_from_arrays(const tyche_graphs* graphs, tyche_handle* out);
/* A file or folder. `options`: format (none: told by content), clean (true: loops and repeated edges are dropped and
 * missing directions added; says how many under "cleaned"). */
TYCHE_API tyche_status tyche_set_read(const char* path, const char* options, tyche_handle* out);
/* The same from memory; `name` stands for the file in errors. */
TYCHE_API tyche_status tyche_set_parse(const void* bytes, uint64_t size, const char* name, const char* format,
                                       tyche_handle* out);
TYCHE_API tyche_status tyche_set_write(tyche_handle set, const char* path, const char* format);
/* What tyche_set_read would read, as a packed file, which is then read: JSON lines are never whole in memory. */
TYCHE_API tyche_status tyche_pack(const char* path, const char* options, const char* to, tyche_handle* out);
/* Pairs to tell apart: a file whose graphs 2i and 2i + 1 are pair i, or BREC's folder. `options`: "only" (a list of
 * BREC's parts), format, clean. Says "names" and "categories" of the pairs. */
TYCHE_API tyche_status tyche_set_pairs(const char* path, const char* options, tyche_handle* out);
/* exp, cexp, sparse-exp, sparse-cexp, tseitin, csl or counting. `options`: seed; pairs, planar_nodes; core_min,
 * core_max; base_nodes, unseen; copies; graphs; planar_source; certify (true). `folder`: also written there
 * (graphs.txt, manifest.json; "force": a data set that is there may be replaced), or NULL. Says the "certificate". */
TYCHE_API tyche_status tyche_generate(const char* kind, const char* options, const char* folder, tyche_handle* out);
/* The graphs of these numbers, in this order; a number may come several times. */
TYCHE_API tyche_status tyche_set_select(tyche_handle set, const uint64_t* numbers, uint64_t count, tyche_handle* out);
/* The same graphs with other labels (NULL and 0: none). */
TYCHE_API tyche_status tyche_set_relabel(tyche_handle set, const int32_t* labels, uint64_t count, tyche_handle* out);
/* The same graphs with other real targets, graphs x columns (NULL and 0: none). */
TYCHE_API tyche_status tyche_set_retarget(tyche_handle set, const float* targets, uint64_t count, uint64_t columns,
                                          tyche_handle* out);
/* The same graphs with labels (INT32_MIN: missing) or real targets (nodes x columns; NaN: missing) of their nodes, one
 * after another, or neither (NULL); and `splits` of them: parts of nodes, splits x nodes, 0 none, 1 train, 2
 * validation, 3 test. Arrays node_labels, node_targets, node_parts give them back. */
TYCHE_API tyche_status tyche_set_node_values(tyche_handle set, const int32_t* labels, const float* targets,
                                             uint64_t nodes, uint64_t columns, const uint8_t* parts, uint64_t splits,
                                             tyche_handle* out);
/* The same graphs, whose labels of edges are the bits of float32 weights; array weights gives these. */
TYCHE_API tyche_status tyche_set_weigh(tyche_handle set, tyche_handle* out);
/* The same graphs, whose first columns of attributes (of nodes, of edges) are categories beside the type and the label:
 * whole numbers from 0 to 2^24 - 1. Arrays categories and edge_categories give them back with the type (label) before
 * them, and attributes without them. */
TYCHE_API tyche_status tyche_set_categorise(tyche_handle set, uint64_t node_columns, uint64_t edge_columns,
                                            tyche_handle* out);
/* Says {"graph6"}. */
TYCHE_API tyche_status tyche_graph6(tyche_handle set, uint64_t graph, tyche_handle* out);
/* Where to draw the nodes. Says {"width", "height", "planar"}; array points: float64, nodes x 2. */
TYCHE_API tyche_status tyche_draw(tyche_handle set, uint64_t graph, tyche_handle* out);
/* Says what `tyche certify --json` does. `options`: published, higher, format (of a file). */
TYCHE_API tyche_status tyche_certify(tyche_handle set, const char* options, tyche_handle* out);
TYCHE_API tyche_status tyche_certify_file(const char* path, const char* options, tyche_handle* out);
/* What is in a set, and what can be learned from it at all: what `tyche inspect --json` says under "answer", and its
 * words under "text". `options`: target, folds, fold_scheme, validation, seed, all. */
TYCHE_API tyche_status tyche_inspect(tyche_handle set, const char* options, tyche_handle* out);

/* Which network suits these graphs, and is it better than none (docs/compare.md): what `tyche compare --json` says
 * under "answer", and its words under "text". `folder`: where results, page and final model go. `options`: budget
 * ("10m") or budget_epochs, ensemble, resume, models (names), metric, target, split, folds, seed, threads, device,
 * progress. */
TYCHE_API tyche_status tyche_compare(tyche_handle set, const char* options, const char* folder, tyche_handle* out);

/* ---- the Weisfeiler-Leman tests
 * `options`: dim (1, 2, 3); or sets ("2", "3", "1-2-3") and two_sets ("edges", "all"); or space ("rooted", "pairs",
 * "folklore") and distance_cut; or individualise (a depth, or "leaf"), draws, cell and seed. */

/* Are graph i of a and graph j of b told apart? Says {"distinguished", "round", "stable_after", "classes"}; with
 * individualise {"verdict", "places", "draws"}. */
TYCHE_API tyche_status tyche_wl(tyche_handle a, uint64_t i, tyche_handle b, uint64_t j, const char* options,
                                tyche_handle* out);
/* Of graphs 2i and 2i + 1 of a set, for all i: a list. */
TYCHE_API tyche_status tyche_wl_pairs(tyche_handle set, const char* options, tyche_handle* out);
/* Which graphs of a set are not told apart: {"groups", "group": [...], "stable_after", "classes"}; with individualise
 * what paths see of each graph, as a list. */
TYCHE_API tyche_status tyche_wl_groups(tyche_handle set, const char* options, tyche_handle* out);
/* Colours of all nodes, refined jointly. `options`: rounds (none: until stable). Says {"classes", "rounds", "stable"};
 * array colours: uint32, nodes. */
TYCHE_API tyche_status tyche_colours(tyche_handle set, const char* options, tyche_handle* out);
/* How often small graphs are in these, as `tyche count`. `options`: patterns (names and files, with commas between), of
 * (graphs, nodes, edges). Says {"patterns": [names]}; array counts: uint64, a row per graph, node or edge. */
TYCHE_API tyche_status tyche_count(tyche_handle set, const char* options, tyche_handle* out);
/* Random paths of individualisation and refinement, `draws` of each graph. `options`: depth (a number or "leaf"),
 * draws, seed, cell. Arrays ranks: uint32, draws x nodes; steps and classes: uint32, draws x graphs. */
TYCHE_API tyche_status tyche_individualise(tyche_handle set, const char* options, tyche_handle* out);
/* The random input columns that a network sees in one pass. `options`: random (features, marks, colours, uniform-marks,
 * class-marks), depth; of features columns and rni_dist (normal, uniform); seed, epoch (1) and fold (0). Graph g is
 * number ids[g] (NULL: g) of the data: with the same seed, fold and epoch its columns are those that training gives it.
 * Array columns: float32, nodes x columns. */
TYCHE_API tyche_status tyche_random_columns(tyche_handle set, const char* options, const uint32_t* ids, uint64_t count,
                                            tyche_handle* out);

/* ---- networks */

/* Called after every epoch of every fold, from any thread but never twice at a time: `epoch` is a JSON object, the line
 * of metrics.jsonl with "fold" and "epochs" (in all). Nonzero: stop here, and keep what was learned. */
typedef int32_t (*tyche_epoch)(void* user, const char* epoch);

/* `tyche train` on a set with labels or real targets. `options`: those of `tyche train` but for data, out, format,
 * clean, resume, json, quiet; `split` may be the JSON of a split itself; sample_weight: a list of numbers from 0 on,
 * how much each graph counts in the loss. `folder`: where the run is kept, as the program keeps it, or NULL: nowhere.
 * `epoch` may be NULL. Says {"summary", "config", "folds": [{"fold", "epochs": [...]}], "notes", "stopped"}. */
TYCHE_API tyche_status tyche_train(tyche_handle set, const char* options, const char* folder, tyche_epoch epoch,
                                   void* user, tyche_handle* out);
/* The network of the i-th fold that was trained: after the epoch that validation chose, where it did, else the last. */
TYCHE_API tyche_status tyche_trained_model(tyche_handle trained, uint64_t i, tyche_handle* out);

/* A checkpoint (safetensors). A model says {"config", "fold", "epoch", "labels", "parameters", "layout": [{"name",
 * "shape", "offset"}], "options" (those of training that would ask for it), "memo"}; array parameters: float32. */
TYCHE_API tyche_status tyche_model_read(const char* path, tyche_handle* out);
TYCHE_API tyche_status tyche_model_write(tyche_handle model, const char* path);
/* With something beside it: `memo` is a JSON object of texts, which the file keeps and a model that is read from it
 * says again under "memo" (NULL: the model's own). */
TYCHE_API tyche_status tyche_model_write_with(tyche_handle model, const char* path, const char* memo);
/* `tyche predict`. `options`: draws (1), seed, device and its kin. Arrays labels: int32, graphs; probabilities and
 * deviations (over draws): float64, graphs x classes; logits: float32, graphs x classes. Of a model of real targets
 * instead values and deviations: float64, graphs x targets, in the targets' unit. */
TYCHE_API tyche_status tyche_predict(tyche_handle model, tyche_handle set, const char* options, tyche_handle* out);
/* What a network makes of graphs or nodes before its last layers, the mean over draws. `options`: of ("graphs",
 * "nodes"), draws, seed, threads. Says {"of", "rows", "columns"}; array values: float32, rows x columns. */
TYCHE_API tyche_status tyche_embed(tyche_handle model, tyche_handle set, const char* options, tyche_handle* out);
/* Which nodes and edges an answer hangs on: what `tyche explain --json` says. `options`: output (a label, or a column
 * of targets), draws, seed, threads, device. */
TYCHE_API tyche_status tyche_explain(tyche_handle model, tyche_handle set, uint64_t graph, const char* options,
                                     tyche_handle* out);
/* `tyche export`: the network of a run folder, or of a checkpoint's file, as plain PyTorch in a new folder. `options`:
 * fold, checkpoint ("best" or "last"), of a run folder. */
TYCHE_API tyche_status tyche_export(const char* run, const char* options, const char* folder);

/* `tyche distinguish`: graphs 2i and 2i + 1 are pair i. `options`: those of `tyche distinguish` but for only, out,
 * resume. Says what `tyche distinguish --json` does. */
TYCHE_API tyche_status tyche_distinguish(tyche_handle set, const char* options, tyche_handle* out);

/* ---- the theorem */

/* Where a formula of counting logic is true in a graph, as `tyche theory check --json`. */
TYCHE_API tyche_status tyche_theory_check(const char* formula, tyche_handle set, uint64_t graph, tyche_handle* out);
/* The network of a formula, as `tyche theory compile --json`; `set` 0: without a graph to run it on. `options`: out (a
 * file to save the network in), svg (true: says it too, under "svg"). */
TYCHE_API tyche_status tyche_theory_compile(const char* formula, const char* options, tyche_handle set, uint64_t graph,
                                            tyche_handle* out);
/* `tyche theory approximate`. `options`: function (a name or a list), n, delta, trials, construction, memory,
 * per_class, seed, out. Says its JSON. */
TYCHE_API tyche_status tyche_theory_approximate(const char* options, tyche_handle* out);

/* ---- results */

/* A folder of results, of `tyche reproduce`, of a training run or of `tyche distinguish`, as html, md, csv, tex or
 * json: {"text"}. `options`: format ("html"), pairs, beside (more folders, to be compared with it). */
TYCHE_API tyche_status tyche_report(const char* folder, const char* options, tyche_handle* out);

#ifdef __cplusplus
}
#endif
#endif
