/* The C interface from C, as a stranger would use it: every kind of call once, every kind of mistake once. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tyche.h"

static int failures = 0;

#define EXPECT(condition)                                                                                     \
  do {                                                                                                        \
    if (!(condition)) {                                                                                       \
      fprintf(stderr, "%s:%d: %s (last error: %s)\n", __FILE__, __LINE__, #condition, tyche_error_message()); \
      ++failures;                                                                                             \
    }                                                                                                         \
  } while (0)

static const char* info(tyche_handle handle) {
  const char* text = "";
  uint64_t bytes = 0;
  EXPECT(tyche_info(handle, &text, &bytes) == TYCHE_OK);
  EXPECT(strlen(text) == bytes);
  return text;
}

static int says(tyche_handle handle, const char* what) { return strstr(info(handle), what) != NULL; }

/* A triangle, and a path of three nodes. */
static tyche_graphs triangle_and_path(void) {
  static const uint64_t node_ptr[] = {0, 3, 6}, edge_ptr[] = {0, 3, 5};
  static const int64_t from[] = {0, 1, 2, 0, 1}, to[] = {1, 2, 0, 1, 2};
  static const int32_t labels[] = {1, 0};
  tyche_graphs graphs;
  memset(&graphs, 0, sizeof graphs);
  graphs.size = sizeof graphs;
  graphs.graphs = 2;
  graphs.nodes = 6;
  graphs.edges = 5;
  graphs.node_ptr = node_ptr;
  graphs.edge_ptr = edge_ptr;
  graphs.from = from;
  graphs.to = to;
  graphs.labels = labels;
  return graphs;
}

static void sets(void) {
  static const uint64_t second_twice[] = {1, 1}, too_far[] = {2};
  static const int32_t one_label[] = {7};
  tyche_graphs graphs = triangle_and_path();
  tyche_array array;
  tyche_handle set = 0, other = 0;
  EXPECT(tyche_set_from_arrays(&graphs, &set) == TYCHE_OK);
  EXPECT(says(set, "\"graphs\":2") && says(set, "\"nodes\":6") && says(set, "\"edges\":5"));
  EXPECT(tyche_array_of(set, "neighbours", &array) == TYCHE_OK);
  EXPECT(array.type == TYCHE_UINT32 && array.dimensions == 1 && array.shape[0] == 10);
  EXPECT(((const uint32_t*)array.data)[0] == 1 && ((const uint32_t*)array.data)[1] == 2);
  EXPECT(tyche_array_of(set, "edge_index", &array) == TYCHE_OK);
  EXPECT(array.type == TYCHE_INT64 && array.dimensions == 2 && array.shape[0] == 2 && array.shape[1] == 10);
  EXPECT(tyche_array_of(set, "no such", &array) == TYCHE_BAD_INPUT && strstr(tyche_error_message(), "neighbours"));
  EXPECT(tyche_set_select(set, second_twice, 2, &other) == TYCHE_OK && says(other, "\"edges\":4"));
  EXPECT(tyche_free(other) == TYCHE_OK);
  EXPECT(tyche_set_select(set, too_far, 1, &other) == TYCHE_BAD_INPUT && other == 0 && tyche_error_graph() == 2);
  EXPECT(tyche_set_relabel(set, one_label, 1, &other) == TYCHE_BAD_INPUT);
  EXPECT(tyche_graph6(set, 0, &other) == TYCHE_OK && says(other, "\"Bw\""));
  EXPECT(tyche_free(other) == TYCHE_OK);
  EXPECT(tyche_draw(set, 0, &other) == TYCHE_OK);
  EXPECT(tyche_array_of(other, "points", &array) == TYCHE_OK && array.shape[0] == 3 && array.shape[1] == 2);
  EXPECT(tyche_free(other) == TYCHE_OK);
  EXPECT(tyche_inspect(set, NULL, &other) == TYCHE_OK && says(other, "\"verdict\""));
  EXPECT(tyche_free(other) == TYCHE_OK);
  EXPECT(tyche_inspect(set, "{\"target\": \"colour\"}", &other) == TYCHE_BAD_INPUT);
  EXPECT(tyche_compare(set, "{\"budget\": \"soon\"}", "nowhere", &other) == TYCHE_BAD_INPUT);
  EXPECT(strstr(tyche_error_message(), "10m") != NULL);
  EXPECT(tyche_free(set) == TYCHE_OK);
}

static void mistakes(void) {
  static const int64_t beyond[] = {0, 1, 2, 0, 9}, loop[] = {1, 2, 0, 0, 2};
  static const uint64_t descending[] = {0, 5, 4};
  tyche_graphs graphs = triangle_and_path();
  tyche_handle set = 0, other = 0;
  tyche_array array;
  EXPECT(tyche_set_from_arrays(NULL, &set) == TYCHE_BAD_CALL);
  EXPECT(tyche_set_from_arrays(&graphs, NULL) == TYCHE_BAD_CALL);
  graphs.size = 8;
  EXPECT(tyche_set_from_arrays(&graphs, &set) == TYCHE_BAD_CALL);
  graphs = triangle_and_path();
  graphs.from = beyond;
  EXPECT(tyche_set_from_arrays(&graphs, &set) == TYCHE_BAD_INPUT && tyche_error_graph() == 1);
  EXPECT(strstr(tyche_error_message(), "graph 1: edge 1 joins 9"));
  graphs = triangle_and_path();
  graphs.to = loop;
  EXPECT(tyche_set_from_arrays(&graphs, &set) == TYCHE_BAD_INPUT && tyche_error_graph() == 1);
  graphs = triangle_and_path();
  graphs.edge_ptr = descending;
  EXPECT(tyche_set_from_arrays(&graphs, &set) == TYCHE_BAD_INPUT);
  graphs = triangle_and_path();
  graphs.nodes = 7;
  EXPECT(tyche_set_from_arrays(&graphs, &set) == TYCHE_BAD_INPUT);
  graphs = triangle_and_path();
  graphs.both_ways = 1;
  EXPECT(tyche_set_from_arrays(&graphs, &set) == TYCHE_BAD_INPUT && strstr(tyche_error_message(), "both ways"));
  graphs = triangle_and_path();
  EXPECT(tyche_set_from_arrays(&graphs, &set) == TYCHE_OK);
  EXPECT(tyche_free(set) == TYCHE_OK);
  EXPECT(tyche_free(set) == TYCHE_BAD_HANDLE && strstr(tyche_error_message(), "freed"));
  EXPECT(tyche_array_of(set, "ptr", &array) == TYCHE_BAD_HANDLE && array.data == NULL);
  EXPECT(tyche_wl(set, 0, set, 1, NULL, &other) == TYCHE_BAD_HANDLE && other == 0);
  EXPECT(tyche_free(0) == TYCHE_BAD_HANDLE);
  EXPECT(tyche_free(0xdeadbeefdeadbeefull) == TYCHE_BAD_HANDLE);
  EXPECT(tyche_set_read(NULL, NULL, &set) == TYCHE_BAD_CALL);
  EXPECT(tyche_set_read("/no/such/file.g6", NULL, &set) == TYCHE_IO_ERROR);
  EXPECT(tyche_generate("exp", "{\"paris\": 3}", NULL, &set) == TYCHE_BAD_INPUT);
  EXPECT(strstr(tyche_error_message(), "did you mean 'pairs'"));
  EXPECT(tyche_generate("exp", "no JSON", NULL, &set) == TYCHE_BAD_INPUT);
}

static void tests_of_graphs(tyche_handle exp) {
  static const uint32_t ids[] = {5, 6, 7};
  tyche_handle answer = 0;
  tyche_array array;
  EXPECT(tyche_wl(exp, 0, exp, 1, NULL, &answer) == TYCHE_OK && says(answer, "\"distinguished\":false"));
  EXPECT(tyche_free(answer) == TYCHE_OK);
  EXPECT(tyche_wl(exp, 0, exp, 1, "{\"dim\": 2}", &answer) == TYCHE_OK && says(answer, "\"distinguished\":true"));
  EXPECT(tyche_free(answer) == TYCHE_OK);
  EXPECT(tyche_wl(exp, 0, exp, 1, "{\"dim\": 2, \"sets\": \"2\"}", &answer) == TYCHE_BAD_INPUT);
  EXPECT(tyche_wl_pairs(exp, "{\"individualise\": \"leaf\"}", &answer) == TYCHE_OK && says(answer, "different"));
  EXPECT(tyche_free(answer) == TYCHE_OK);
  EXPECT(tyche_wl_groups(exp, NULL, &answer) == TYCHE_OK && says(answer, "\"groups\":"));
  EXPECT(tyche_free(answer) == TYCHE_OK);
  EXPECT(tyche_colours(exp, NULL, &answer) == TYCHE_OK && tyche_array_of(answer, "colours", &array) == TYCHE_OK);
  EXPECT(tyche_free(answer) == TYCHE_OK);
  EXPECT(tyche_individualise(exp, "{\"draws\": 3}", &answer) == TYCHE_OK);
  EXPECT(tyche_array_of(answer, "ranks", &array) == TYCHE_OK && array.shape[0] == 3);
  EXPECT(tyche_free(answer) == TYCHE_OK);
  EXPECT(tyche_random_columns(exp, "{\"random\": \"colours\"}", ids, 3, &answer) == TYCHE_BAD_INPUT);
  EXPECT(tyche_random_columns(exp, "{\"random\": \"colours\"}", NULL, 0, &answer) == TYCHE_OK);
  EXPECT(tyche_array_of(answer, "columns", &array) == TYCHE_OK && array.shape[1] == 16);
  EXPECT(tyche_free(answer) == TYCHE_OK);
  EXPECT(tyche_certify(exp, NULL, &answer) == TYCHE_OK && says(answer, "\"failures\":[]"));
  EXPECT(tyche_free(answer) == TYCHE_OK);
}

struct Count {
  int epochs;
  int stop_after;
};

static int32_t on_epoch(void* user, const char* epoch) {
  struct Count* count = user;
  EXPECT(strstr(epoch, "\"train_loss\":") != NULL);
  return ++count->epochs == count->stop_after;
}

static void networks(tyche_handle exp) {
  static const char* const options =
      "{\"width\": 8, \"layers\": 2, \"rni\": 0.5, \"epochs\": 4, \"folds\": 1, \"threads\": 1, \"device\": \"cpu\"}";
  struct Count all = {0, 0}, two = {0, 2};
  tyche_handle trained = 0, model = 0, again = 0, answer = 0;
  tyche_array array;
  EXPECT(tyche_train(exp, options, NULL, on_epoch, &all, &trained) == TYCHE_OK && all.epochs == 4);
  EXPECT(says(trained, "\"stopped\":false"));
  EXPECT(tyche_trained_model(trained, 1, &model) == TYCHE_BAD_INPUT);
  EXPECT(tyche_trained_model(trained, 0, &model) == TYCHE_OK && says(model, "\"epoch\":4"));
  EXPECT(tyche_free(trained) == TYCHE_OK); /* the model stays */
  EXPECT(tyche_array_of(model, "parameters", &array) == TYCHE_OK && array.type == TYCHE_FLOAT32);
  EXPECT(tyche_predict(model, exp, "{\"draws\": 2}", &answer) == TYCHE_OK);
  EXPECT(tyche_array_of(answer, "probabilities", &array) == TYCHE_OK && array.shape[0] == 20 && array.shape[1] == 2);
  EXPECT(tyche_free(answer) == TYCHE_OK);
  EXPECT(tyche_embed(model, exp, "{\"of\": \"graphs\"}", &answer) == TYCHE_OK);
  EXPECT(tyche_array_of(answer, "values", &array) == TYCHE_OK && array.shape[0] == 20);
  EXPECT(tyche_free(answer) == TYCHE_OK);
  EXPECT(tyche_explain(model, exp, 3, "{\"draws\": 1}", &answer) == TYCHE_OK && says(answer, "\"left_out\""));
  EXPECT(tyche_free(answer) == TYCHE_OK);
  EXPECT(tyche_explain(model, exp, 20, NULL, &answer) == TYCHE_BAD_INPUT);
  EXPECT(tyche_predict(exp, model, NULL, &answer) == TYCHE_BAD_HANDLE && strstr(tyche_error_message(), "a model"));
  EXPECT(tyche_model_write_with(model, "capi-test.safetensors", "{\"by\": 3}") == TYCHE_BAD_INPUT);
  EXPECT(tyche_model_write_with(model, "capi-test.safetensors", "{\"by\": \"whom\"}") == TYCHE_OK);
  EXPECT(tyche_model_read("capi-test.safetensors", &again) == TYCHE_OK && says(again, "\"memo\":{\"by\":\"whom\"}"));
  EXPECT(tyche_model_write(again, "capi-test.safetensors") == TYCHE_OK && tyche_free(again) == TYCHE_OK);
  EXPECT(tyche_model_read("capi-test.safetensors", &again) == TYCHE_OK && says(again, "\"whom\""));
  EXPECT(tyche_free(again) == TYCHE_OK);
  EXPECT(tyche_model_write(model, "capi-test.safetensors") == TYCHE_OK);
  EXPECT(tyche_free(model) == TYCHE_OK);
  EXPECT(tyche_model_read("capi-test.safetensors", &model) == TYCHE_OK && says(model, "\"epoch\":4"));
  EXPECT(tyche_free(model) == TYCHE_OK);
  remove("capi-test.safetensors");
  EXPECT(tyche_train(exp, options, NULL, on_epoch, &two, &trained) == TYCHE_OK && two.epochs == 2);
  EXPECT(says(trained, "\"stopped\":true"));
  EXPECT(tyche_trained_model(trained, 0, &model) == TYCHE_OK && says(model, "\"epoch\":2"));
  EXPECT(tyche_free(model) == TYCHE_OK && tyche_free(trained) == TYCHE_OK);
  EXPECT(tyche_train(exp, "{\"widht\": 8}", NULL, NULL, NULL, &trained) == TYCHE_BAD_INPUT);
  EXPECT(tyche_train(exp, "{\"mlp_depth\": 3}", NULL, NULL, NULL, &trained) == TYCHE_BAD_INPUT);
  EXPECT(strstr(tyche_error_message(), "mlp_depth is 3, but gcn"));
}

/* Real targets: the number of edges of a graph. */
static void numbers(tyche_handle exp) {
  static const char* const options =
      "{\"width\": 8, \"layers\": 1, \"epochs\": 2, \"folds\": 1, \"target\": \"attributes\", \"device\": \"cpu\"}";
  float targets[20];
  int i;
  tyche_handle set = 0, trained = 0, model = 0, answer = 0;
  tyche_array array;
  for (i = 0; i < 20; ++i) targets[i] = (float)(i % 3);
  EXPECT(tyche_set_retarget(exp, targets, 3, 1, &set) == TYCHE_BAD_INPUT);
  EXPECT(tyche_set_retarget(exp, targets, 20, 1, &set) == TYCHE_OK && says(set, "\"targets\":1"));
  EXPECT(tyche_train(set, options, NULL, NULL, NULL, &trained) == TYCHE_OK);
  EXPECT(tyche_trained_model(trained, 0, &model) == TYCHE_OK);
  EXPECT(tyche_predict(model, set, NULL, &answer) == TYCHE_OK && says(answer, "\"rmse\""));
  EXPECT(tyche_array_of(answer, "values", &array) == TYCHE_OK && array.shape[0] == 20 && array.shape[1] == 1);
  EXPECT(tyche_free(answer) == TYCHE_OK && tyche_free(model) == TYCHE_OK && tyche_free(trained) == TYCHE_OK);
  EXPECT(tyche_free(set) == TYCHE_OK);
}

static void theorem(tyche_handle exp) {
  tyche_handle answer = 0;
  EXPECT(tyche_theory_check("exists x. exists>=3 y. E(x,y)", exp, 0, &answer) == TYCHE_OK);
  EXPECT(tyche_free(answer) == TYCHE_OK);
  EXPECT(tyche_theory_compile("exists y. E(x,y)", "{\"svg\": true}", 0, 0, &answer) == TYCHE_OK &&
         says(answer, "<svg"));
  EXPECT(tyche_free(answer) == TYCHE_OK);
  EXPECT(tyche_theory_compile("exists y. (", NULL, 0, 0, &answer) == TYCHE_BAD_INPUT);
  EXPECT(tyche_theory_approximate("{\"function\": \"connected\", \"n\": 2, \"trials\": 10}", &answer) == TYCHE_OK);
  EXPECT(tyche_free(answer) == TYCHE_OK);
  EXPECT(tyche_report("/no/such/folder", NULL, &answer) != TYCHE_OK);
}

int main(void) {
  tyche_handle exp = 0, about = 0;
  EXPECT(tyche_abi() == TYCHE_ABI);
  EXPECT(strlen(tyche_version()) > 0);
  EXPECT(tyche_about(&about) == TYCHE_OK && says(about, "\"rni\""));
  EXPECT(tyche_free(about) == TYCHE_OK);
  sets();
  mistakes();
  EXPECT(tyche_generate("exp", "{\"pairs\": 10, \"seed\": 1}", NULL, &exp) == TYCHE_OK);
  EXPECT(says(exp, "\"certificate\""));
  tests_of_graphs(exp);
  networks(exp);
  numbers(exp);
  theorem(exp);
  EXPECT(tyche_free(exp) == TYCHE_OK);
  EXPECT(tyche_live_handles() == 0);
  if (failures == 0) puts("the C interface does what its header says");
  return failures == 0 ? 0 : 1;
}
