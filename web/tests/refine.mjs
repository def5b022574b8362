// node refine.mjs TYCHE: the refinement that runs in the page, without a browser: against known ranks, against an oracle that unfolds
// trees, against brute-force isomorphism, and against the colours that the program TYCHE computes.
// Exit code 77 (skipped) where the page was not built.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join as joinPath, resolve } from "node:path";
import { load } from "./modules.mjs";

const program = resolve(process.argv[2]);
const { join, initial, refine, individualise, equal, differing, Path, verdict } = await load(["refine", "path", "words"]);

const graph = (nodes, edges, type = new Array(nodes).fill(0)) => ({ nodes, type, edges: edges.flat() });
const cycle = (n, from = 0) => Array.from({ length: n }, (_, i) => [from + i, from + ((i + 1) % n)]);
const hexagon = graph(6, cycle(6));
const triangles = graph(6, [...cycle(3), ...cycle(3, 3)]);
const petersen = graph(10, [...cycle(5), ...[0, 1, 2, 3, 4].flatMap((i) => [[i, i + 5], [5 + i, 5 + ((i + 2) % 5)]])]);
const edgesOf = (g) => Array.from({ length: g.edges.length / 2 }, (_, e) => [g.edges[2 * e], g.edges[2 * e + 1]]);
const relabelled = (g, to) => {
  const type = new Array(g.nodes);
  g.type.forEach((t, v) => { type[to[v]] = t; });
  return graph(g.nodes, edgesOf(g).map(([u, v]) => [to[u], to[v]]), type);
};

// A small generator, so that a failure comes again.
let state = 12345;
const random = () => (state = (state * 1103515245 + 12345) % 2147483648) / 2147483648;
const below = (n) => Math.floor(random() * n);
const permutation = (n) => {
  const p = Array.from({ length: n }, (_, i) => i);
  for (let i = n - 1; i > 0; --i) { const j = below(i + 1); [p[i], p[j]] = [p[j], p[i]]; }
  return p;
};
const randomGraph = (n, chance, types = 1) => graph(n, Array.from({ length: n }, (_, u) => Array.from({ length: u }, (_, v) => [u, v])).flat().filter(() => random() < chance), Array.from({ length: n }, () => below(types)));

const stable = (g, colours) => refine(g, colours).at(-1) ?? colours;
const samePartition = (a, b) => new Set(a.map((c, v) => `${c} ${b[v]}`)).size === new Set(a).size && new Set(a).size === new Set(b).size;
const verdictOf = (path) => verdict(path, { wl1: { distinguished: !equal(path.graphs, new Path(path.graphs).colours) } });

const tests = {
  "ranks are those of the prototype (individualise.py), step by step": () => {
    const known = [
      [hexagon, [2, 0], [[0, 0, 0, 0, 0, 0], [2, 1, 0, 1, 2, 3], [3, 1, 0, 2, 4, 5]]],
      [triangles, [4, 0, 1], [[0, 0, 0, 0, 0, 0], [2, 2, 2, 1, 0, 1], [2, 3, 3, 1, 0, 1], [2, 3, 4, 1, 0, 1]]],
      [petersen, [3, 7, 0], [new Array(10).fill(0), [2, 2, 1, 0, 1, 2, 2, 2, 1, 2], [6, 5, 1, 0, 2, 4, 6, 3, 2, 4], [8, 7, 1, 0, 2, 5, 9, 4, 3, 6]]],
      [graph(6, cycle(6), [5, 2, 2, 5, 2, 2]), [4, 5], [[1, 0, 0, 1, 0, 0], [5, 3, 2, 4, 0, 1], [5, 3, 2, 4, 0, 1]]],
    ];
    for (const [g, chosen, expected] of known) {
      const alone = join(g, graph(0, []));
      let colours = stable(alone, initial(alone));
      assert.deepEqual(colours, expected[0]);
      chosen.forEach((v, i) => {
        colours = stable(alone, individualise(colours, [v]));
        assert.deepEqual(colours, expected[i + 1]);
      });
      // Beside a copy of itself, with the same nodes chosen there, each graph has the ranks it has alone.
      const path = new Path(join(g, g));
      for (const v of chosen) path.add(v, v + g.nodes, []);
      assert.deepEqual(path.colours, [...colours, ...colours]);
    }
  },

  "after r rounds two nodes have the same colour where their unfoldings to depth r are equal": () => {
    for (let i = 0; i < 60; ++i) {
      const g = join(randomGraph(1 + below(7), 0.4, 2), randomGraph(1 + below(7), 0.4, 2));
      const marks = individualise(initial(g), [below(g.nodes), below(g.nodes)]);
      const unfold = (v, depth) => depth === 0 ? `${marks[v]}` : `${marks[v]}(${g.neighbours[v].map((w) => unfold(w, depth - 1)).sort().join(",")})`;
      const rounds = [marks, ...refine(g, marks)];
      rounds.slice(0, 4).forEach((colours, r) => assert.ok(samePartition(colours, colours.map((_, v) => unfold(v, r)))));
    }
  },

  "ranks are those of plain refinement, round by round": () => {
    const plain = (g, colours) => {
      const keys = colours.map((c, v) => [c, ...g.neighbours[v].map((w) => colours[w]).sort((x, y) => x - y)]);
      const less = (a, b) => { for (let i = 0; i < Math.min(a.length, b.length); ++i) if (a[i] !== b[i]) return a[i] - b[i]; return a.length - b.length; };
      const different = [...new Set(keys.map(String))].map((k) => k.split(",").map(Number)).sort(less).map(String);
      return keys.map((k) => different.indexOf(String(k)));
    };
    for (let i = 0; i < 80; ++i) {
      const n = 1 + below(24);
      const g = i % 4 === 0 ? join(graph(n, cycle(n)), graph(n, cycle(n))) : join(randomGraph(n, 2 / n, 2), randomGraph(n, 2 / n, 2));
      if (g.neighbours.some((a) => a.length !== new Set(a).size)) continue;  // cycles of one and two nodes are no graphs
      let colours = individualise(initial(g), [below(g.nodes)]);
      for (const round of refine(g, colours)) assert.deepEqual(round, colours = plain(g, colours));
      assert.deepEqual(plain(g, colours), colours);
    }
  },

  "a relabelled pair has the same colours, moved along": () => {
    for (let i = 0; i < 40; ++i) {
      const [a, b] = [randomGraph(8, 0.35), randomGraph(8, 0.35)];
      const [p, q] = [permutation(8), permutation(8)];
      const here = new Path(join(a, b));
      const there = new Path(join(relabelled(a, p), relabelled(b, q)));
      for (const [v, w] of [[below(8), below(8)], [below(8), below(8)]]) {
        here.add(v, 8 + w, []);
        there.add(p[v], 8 + q[w], []);
      }
      here.colours.forEach((c, v) => assert.equal(there.colours[v < 8 ? p[v] : 8 + q[v - 8]], c));
    }
  },

  "one node tells a hexagon from two triangles, whatever its counterpart": () => {
    const path = new Path(join(hexagon, triangles));
    assert.equal(verdictOf(path).kind, "open");
    const counterparts = path.counterparts(0);
    assert.deepEqual(counterparts.map((c) => c.node), [6, 7, 8, 9, 10, 11]);
    assert.ok(counterparts.every((c) => !c.equal));
    path.add(0, 6, counterparts);
    assert.ok(differing(path.graphs, path.colours).size > 0);
    assert.equal(verdictOf(path).kind, "apart");
    assert.match(verdictOf(path).long, /whichever of the 6 nodes .* not isomorphic/);
    path.undo();
    assert.deepEqual(path.colours, new Array(12).fill(0));
  },

  "a node without a counterpart is a proof from either side, in later steps too": () => {
    // In the triangles some nodes of both graphs go together; the seven-cycle is on one side alone.
    const many = graph(10, [...cycle(3), ...cycle(3, 3), ...cycle(4, 6)]);
    const few = graph(10, [...cycle(3), ...cycle(7, 3)]);
    for (const [a, b, v] of [[many, few, 15], [few, many, 5]]) {
      const path = new Path(join(a, b));
      const counterparts = path.counterparts(v);
      assert.ok(counterparts.every((c) => !c.equal));
      path.add(v, counterparts[0].node, counterparts);
      assert.equal(verdictOf(path).kind, "apart");
    }
    const path = new Path(join(many, few));
    const triangle = path.counterparts(0);
    assert.equal(triangle.filter((c) => c.equal).length, 3);
    path.add(0, triangle.find((c) => c.equal).node, triangle);
    assert.equal(verdictOf(path).kind, "open");
    const cycleNode = path.counterparts(15);
    path.add(15, cycleNode[0].node, cycleNode);
    assert.equal(verdictOf(path).kind, "apart");
    assert.match(verdictOf(path).long, /all were tried/);
    // The wrong counterpart is no proof, though the graphs are not isomorphic.
    path.reset();
    path.add(0, 15, triangle);
    assert.equal(verdictOf(path).kind, "chance");
  },

  "a path to the leaf through a relabelled copy finds the isomorphism where counterparts keep the colours equal": () => {
    for (let i = 0; i < 20; ++i) {
      const path = new Path(join(petersen, relabelled(petersen, permutation(10))));
      while (!path.discrete) {
        const sizes = path.colours.map((c) => path.colours.filter((d) => d === c).length);
        const v = sizes.findIndex((s) => s > 2);
        const counterparts = path.counterparts(v);
        path.add(v, counterparts.find((c) => c.equal).node, counterparts);
      }
      assert.equal(verdictOf(path).kind, "same");
      assert.match(verdictOf(path).long, /renumbered by colour the two graphs are equal/);
    }
  },

  "what is said of random paths agrees with brute force: never apart where isomorphic, never the same where not": () => {
    const permutations = (n) => n === 0 ? [[]] : permutations(n - 1).flatMap((p) => Array.from({ length: n }, (_, i) => [...p.slice(0, i), n - 1, ...p.slice(i)]));
    const all = new Map([6, 7].map((n) => [n, permutations(n)]));
    const set = (g) => new Set(edgesOf(g).flatMap(([u, v]) => [`${u} ${v}`, `${v} ${u}`]));
    const isomorphic = (a, b) => { const there = set(b); return a.edges.length === b.edges.length && all.get(a.nodes).some((p) => edgesOf(a).every(([u, v]) => there.has(`${p[u]} ${p[v]}`))); };
    const prism = graph(6, [...cycle(3), ...cycle(3, 3), [0, 3], [1, 4], [2, 5]]);
    const k33 = graph(6, [0, 1, 2].flatMap((u) => [3, 4, 5].map((v) => [u, v])));
    const matching = graph(6, [[0, 1], [2, 3], [4, 5]]);
    const kinds = new Set();
    // The last two are regular, and in the very last nodes of one colour are of two kinds.
    const graphs = [hexagon, triangles, prism, k33, matching, graph(7, cycle(7)), graph(7, [...cycle(3), ...cycle(4, 3)])];
    for (const a of graphs) {
      for (const b of graphs.filter((g) => g.nodes === a.nodes)) {
        const other = relabelled(b, permutation(b.nodes));
        const truth = isomorphic(a, other);
        for (let i = 0; i < 8; ++i) {
          const path = new Path(join(a, other));
          if (!path.equal) continue;
          for (let said = verdictOf(path); ; said = verdictOf(path)) {
            kinds.add(`${said.kind} ${truth}`);
            assert.notEqual(said.kind, truth ? "apart" : "same");
            if (!path.addRandom(true, random)) break;
          }
          assert.ok(path.discrete);
        }
      }
    }
    assert.deepEqual([...kinds].sort(), ["apart false", "chance true", "open false", "open true", "same true"].sort());
  },

  "the rounds are those of the program, and so is what 1-WL says": () => {
    const folder = mkdtempSync(joinPath(tmpdir(), "tyche-refine-"));
    try {
      const tyche = (...args) => { try { execFileSync(program, args, { cwd: folder, stdio: "pipe" }); } catch (e) { if (e.status !== 1) throw e; } };
      tyche("generate", "exp", "--out", "exp", "--pairs", "2", "--quiet");
      for (const [a, b] of [["exp:0", "exp:1"], ["exp:2", "exp:3"], ["exp:0", "exp:2"], ["g6:EhEG", "g6:EwCW"]]) {
        tyche("wl", a, b, "--page", "out.html", "--quiet");
        const html = readFileSync(joinPath(folder, "out.html"), "utf8");
        const data = JSON.parse(/<script id="tyche-data" type="application\/json">([\s\S]*?)<\/script>/.exec(html)[1]);
        const pair = data.data[0].pairs[0];
        const g = join(...pair.graphs);
        const rounds = [initial(g), ...refine(g, initial(g))];
        assert.equal(rounds.length, pair.wl1.rounds.length);
        rounds.forEach((colours, r) => assert.ok(samePartition(colours, pair.wl1.rounds[r]), `${a} ${b}, round ${r}`));
        assert.equal(!equal(g, rounds.at(-1)), pair.wl1.distinguished);
      }
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

for (const [name, test] of Object.entries(tests)) {
  test();
  console.log(`passed: ${name}`);
}
