// node packed.mjs TYCHE: graphs as pages of many pairs hold them: decoded as nauty's manual says and as the program TYCHE reads them, drawn
// without a browser, refined like the program does. Exit code 77 (skipped) where the page was not built.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join as joinPath, resolve } from "node:path";
import { load } from "./modules.mjs";

const program = resolve(process.argv[2]);
const { decode, layout, unpack } = await load(["graph6", "layout", "packed"]);

const edgesOf = (g) => Array.from({ length: g.edges.length / 2 }, (_, e) => [g.edges[2 * e], g.edges[2 * e + 1]]);
const sorted = (g) => edgesOf(g).map(([u, v]) => [Math.min(u, v), Math.max(u, v)]).sort((a, b) => a[0] - b[0] || a[1] - b[1]);
const cycle = (n, from = 0) => Array.from({ length: n }, (_, i) => [from + i, from + ((i + 1) % n)]);
const graph = (nodes, edges) => ({ nodes, edges: edges.flat() });
const grid = (n) => graph(n * n, Array.from({ length: n * n }, (_, v) => [...(v % n < n - 1 ? [[v, v + 1]] : []), ...(v < n * (n - 1) ? [[v, v + n]] : [])]).flat());

/** Exit code 1 says that some pair is not told apart. */
const compare = (cwd, args) => { try { execFileSync(program, args, { cwd, stdio: "pipe" }); } catch (error) { if (error.status !== 1) throw error; } };

const tests = {
  "codes of nauty's manual": () => {
    assert.equal(decode("DQc").nodes, 5);
    assert.deepEqual(sorted(decode("DQc")), [[0, 2], [0, 4], [1, 3], [3, 4]]);
    assert.deepEqual(sorted(decode(":Fa@x^")), [[0, 1], [0, 2], [1, 2], [5, 6]]);
    assert.equal(decode(":Fa@x^").nodes, 7);
    assert.deepEqual(decode("?"), { nodes: 0, edges: [] });
    assert.deepEqual(decode("@"), { nodes: 1, edges: [] });
    assert.throws(() => decode("D c"));
    assert.throws(() => decode(""));
  },

  "the program's codes, dense and sparse, on powers of two and beyond 62 nodes": () => {
    const folder = mkdtempSync(joinPath(tmpdir(), "tyche-packed-"));
    try {
      const graphs = [1, 2, 3, 4, 8, 16, 17, 32, 62, 63, 64, 65, 128, 200].map((n) => n < 3 ? graph(n, n === 2 ? [[0, 1]] : []) : graph(n, cycle(n)));
      graphs.push(graph(20, Array.from({ length: 20 }, (_, v) => Array.from({ length: v }, (_, u) => [u, v])).flat()), grid(9), graph(70, [[0, 69]]), graph(64, [[62, 63]]));
      const lines = graphs.map((g) => {
        const near = Array.from({ length: g.nodes }, () => []);
        for (const [u, v] of edgesOf(g)) { near[u].push(v); near[v].push(u); }
        return `${g.nodes} 0\n${near.map((n) => `0 ${n.length}${n.map((w) => ` ${w}`).join("")}`).join("\n")}\n`;
      });
      writeFileSync(joinPath(folder, "graphs.txt"), `${graphs.length}\n${lines.join("")}`);
      compare(folder, ["distinguish", "graphs.txt", "--epochs", "1", "--width", "4", "--layers", "1", "--draws", "4", "--rni", "1", "--train-draws", "1", "--out", "run", "--quiet"]);
      execFileSync(program, ["report", "run", "--out", "run.html"], { cwd: folder, stdio: "pipe" });
      const html = readFileSync(joinPath(folder, "run.html"), "utf8");
      const data = JSON.parse(/<script id="tyche-data" type="application\/json">([\s\S]*?)<\/script>/.exec(html)[1]);
      let checked = 0;
      const seen = new Set();
      for (const pair of data.run.pairs) {
        for (const g of pair.graphs) {
          const { nodes, edges } = decode(g.code);
          seen.add(g.code.startsWith(":"));
          const degree = new Array(nodes).fill(0);
          for (const v of edges) ++degree[v];
          assert.equal(sorted({ edges }).length, new Set(sorted({ edges }).map(String)).size);
          if (nodes >= 3 && edges.length === 2 * nodes) { assert.ok(degree.every((d) => d === 2)); ++checked; }
          if (edges.length === 380) { assert.ok(degree.every((d) => d === 19)); ++checked; }
          if (nodes === 81) { assert.deepEqual(sorted({ edges }), sorted(grid(9))); ++checked; }
          if (nodes === 70) { assert.deepEqual(edges, [0, 69]); ++checked; }
          if (nodes === 64 && edges.length === 2) { assert.deepEqual(edges, [62, 63]); ++checked; }
        }
      }
      assert.equal(checked, 16);
      assert.deepEqual([...seen].sort(), [false, true]);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },

  "drawings are finite, keep nodes apart, have edges of about one, and are the same every time": () => {
    const cases = [graph(0, []), graph(1, []), graph(2, []), graph(3, [[0, 1]]), graph(6, cycle(6)), graph(6, [...cycle(3), ...cycle(3, 3)]), grid(6), graph(40, cycle(40)), decode(`O${"~".repeat(20)}`)];
    for (const g of cases) {
      const drawn = layout(g);
      assert.deepEqual(layout(g), drawn);
      const at = (v) => [drawn.x[v], drawn.y[v]];
      for (let v = 0; v < g.nodes; ++v) {
        assert.ok(drawn.x[v] >= -1e-9 && drawn.x[v] <= drawn.width + 1e-9 && drawn.y[v] >= -1e-9 && drawn.y[v] <= drawn.height + 1e-9);
        for (let w = 0; w < v; ++w) assert.ok(Math.hypot(at(v)[0] - at(w)[0], at(v)[1] - at(w)[1]) > 0.2, `${g.nodes}: ${v} on ${w}`);
      }
      if (edgesOf(g).length > 0 && edgesOf(g).length <= 2 * g.nodes) {
        const mean = edgesOf(g).reduce((sum, [u, v]) => sum + Math.hypot(drawn.x[u] - drawn.x[v], drawn.y[u] - drawn.y[v]), 0) / edgesOf(g).length;
        assert.ok(mean > 0.6 && mean < 1.6, `${g.nodes}: ${mean}`);
      }
    }
  },

  "a planar graph of few nodes is drawn without crossings": () => {
    for (const g of [graph(12, cycle(12)), grid(4)]) {
      const { x, y } = layout(g);
      const turn = (a, b, c) => Math.sign((x[b] - x[a]) * (y[c] - y[a]) - (y[b] - y[a]) * (x[c] - x[a]));
      for (const [a, b] of edgesOf(g)) {
        for (const [c, d] of edgesOf(g)) {
          if (new Set([a, b, c, d]).size === 4) assert.ok(turn(a, b, c) === turn(a, b, d) || turn(c, d, a) === turn(c, d, b));
        }
      }
    }
  },

  "a packed pair unpacks to what the viewer shows": () => {
    const pair = unpack({ title: "t", graphs: [{ title: "hexagon", code: "EhEG" }, { title: "triangles", code: "EwCW" }], wl2: true, isomorphic: false });
    assert.equal(pair.wl1.distinguished, false);
    assert.equal(pair.wl1.classes, 1);
    assert.deepEqual(pair.wl1.rounds, [new Array(12).fill(0)]);
    assert.equal(pair.wl2.distinguished, true);
    assert.equal(pair.graphs[0].x.length, 6);
    const other = unpack({ title: "t", graphs: [{ title: "path", code: "Bg" }, { title: "triangle", code: "Bw" }] });
    assert.equal(other.wl1.distinguished, true);
    assert.equal(other.wl1.round, 1);
    assert.equal(other.wl2, undefined);
    const typed = unpack({ title: "t", graphs: [{ title: "a", code: "A_", type: [0, 1] }, { title: "b", code: "A_" }] });
    assert.equal(typed.wl1.round, 0);
    // A hexagon whose edges are labelled 1 2 1 2 1 2 and one with 1 1 1 2 2 2: alike without labels, told apart with them.
    const code = "EhEG";
    const around = sorted(decode(code));
    const walk = [0];
    while (walk.length < 6) walk.push(around.flatMap(([u, v]) => (u === walk.at(-1) ? [v] : v === walk.at(-1) ? [u] : [])).find((w) => !walk.includes(w)));
    const labels = (along) => around.map(([u, v]) => { const i = walk.indexOf(u), j = walk.indexOf(v); return along[Math.abs(i - j) === 1 ? Math.min(i, j) : 5]; });
    const hexagons = (a, b) => unpack({ title: "t", graphs: [{ title: "a", code, edge_label: labels(a) }, { title: "b", code, edge_label: labels(b) }] });
    assert.equal(hexagons([1, 2, 1, 2, 1, 2], [1, 1, 1, 2, 2, 2]).wl1.round, 1);
    assert.equal(hexagons([1, 2, 1, 2, 1, 2], [2, 1, 2, 1, 2, 1]).wl1.distinguished, false);
  },
};

for (const [name, test] of Object.entries(tests)) {
  test();
  console.log(`passed: ${name}`);
}
