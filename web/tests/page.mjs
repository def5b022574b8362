// node page.mjs TYCHE: makes results and their page with the program TYCHE, pages of two graphs, of a run of distinguish and of a run of
// train; opens them in Chromium from file:// and uses them.
// Exit code 77 (skipped) where Chromium or playwright-core is missing.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const program = resolve(process.argv[2]);
const skip = (why) => { console.log(`skipped: ${why}`); process.exit(77); };

const browserPath = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser"].find((p) => p && existsSync(p));
if (!browserPath) skip("Chromium is not installed (Debian: apt-get install chromium)");
const playwright = join(here, "../node_modules/playwright-core/index.mjs");
if (!existsSync(playwright)) skip("web/node_modules is missing: the page was not built (needs node, npm and the network)");
const { chromium } = await import(pathToFileURL(playwright).href);

const folder = mkdtempSync(join(tmpdir(), "tyche-page-"));
const tyche = (...args) => execFileSync(program, args, { cwd: folder, stdio: ["ignore", "pipe", "inherit"], encoding: "utf8" });
/** Exit code 1 says that graphs are not told apart. */
const ask = (...args) => { try { tyche(...args); } catch (error) { assert.equal(error.status, 1); } };
const compare = (...args) => ask("wl", ...args);
const NAME = `<script>document.title = "broken"</script> & "co"`;

function makePage() {
  // Two experiments: one with the paper's names on CEXP, one whose names are an attack.
  writeFileSync(join(folder, "exp-curves.toml"), `
title = "Learning curves"
paper = "Figure 2b"
paper_data = "CEXP"
show = ["table", "reach", "curves", "split", "deviation"]
[data]
generate = "cexp"
pairs = 12
[defaults]
model.width = 8
model.layers = 2
folds.count = 4
folds.run = 2
training.epochs = 10
training.batch = 4
[[models]]
name = "GCN"
[[models]]
name = "GCN-50%RNI"
model.rni = 0.5
[[models]]
name = "GCN with individualised colours"
model.random = "colours"
`);
  writeFileSync(join(folder, "attack.toml"), `
title = '${NAME}'
about = '${NAME}'
[data]
path = '<script>alert(1).txt'
[defaults]
model.width = 4
model.layers = 1
folds.count = 2
training.epochs = 2
[[models]]
name = '${NAME}'
`);
  writeFileSync(join(folder, "<script>alert(1).txt"), "8\n" + [0, 1, 0, 1, 0, 1, 0, 1].map((label) => `3 ${label}\n0 1 1\n0 2 0 2\n0 1 1\n`).join(""));
}

/** Graphs of one label, in the text format: lists of neighbours. */
function writeGraphs(file, graphs) {
  writeFileSync(join(folder, file), `${graphs.length}\n${graphs.map((near) => `${near.length} 0\n${near.map((n) => `0 ${n.length} ${n.join(" ")}\n`).join("")}`).join("")}`);
}
const ring = (n, from = 0) => Array.from({ length: n }, (_, i) => [from + ((i + n - 1) % n), from + ((i + 1) % n)]);

function makeRuns() {
  // Told apart by colours; isomorphic; too large to draw.
  writeGraphs("<b>pairs.txt", [ring(6), [...ring(3), ...ring(3, 3)], ring(7), ring(7), ring(301), Array.from({ length: 302 }, (_, v) => [v ^ 1])]);
  ask("distinguish", "<b>pairs.txt", "--random", "colours", "--depth", "2", "--width", "16", "--epochs", "64", "--lr", "0.005", "--draws", "64", "--train-draws", "8", "--seeds", "2", "--out", "judged", "--quiet");
  tyche("report", "judged", "--out", "judged.html", "--quiet");
  rmSync(join(folder, "<b>pairs.txt"));
  tyche("report", "judged", "--out", "gone.html", "--quiet");
  tyche("generate", "exp", "--out", "exp", "--pairs", "6", "--quiet");
  tyche("train", "--data", "exp", "--rni", "0.5", "--width", "8", "--layers", "2", "--folds", "3", "--epochs", "6", "--out", "mine", "--quiet");
  tyche("report", "mine", "--out", "mine.html", "--quiet");
  tyche("train", "--data", "exp", "--rni", "0.5", "--width", "8", "--layers", "2", "--folds", "3", "--epochs", "6", "--validation", "0.3", "--select-by", "loss", "--test", "end", "--out", "chosen", "--quiet");
  tyche("report", "chosen", "--out", "chosen.html", "--quiet");
  rmSync(join(folder, "mine/fold-2"), { recursive: true });
  rmSync(join(folder, "mine/summary.json"));
  tyche("report", "mine", "--out", "unfinished.html", "--quiet");
}

/** The page of pairs that look alike, as src/report/confused_page.cpp fills it (its test pins the format). */
function makeConfused() {
  const html = readFileSync(join(folder, "two.html"), "utf8");
  const data = {
    version: "0", made: "now", command: "tyche inspect --data d --page confused.html", shows: "confused", title: `${NAME}: alike`, lead: "A verdict.", notes: ["Graphs are sorted by label."],
    rows: [["graphs", "4", ""], ["best accuracy", "50 %", "by 1-WL"]], too_large: 2,
    pairs: [
      { title: "graph 0, graph 1", caption: "Labels 0 and 1.", graphs: [{ title: "graph 0", code: "EhEG" }, { title: "graph 1", code: "EwCW" }] },
      { title: "graph 2, graph 3", caption: "", graphs: [{ title: "graph 2", code: "Bw", edge_label: [0, 1, 2] }, { title: "graph 3", code: "Bw", edge_label: [2, 1, 0] }] },
    ],
  };
  const text = JSON.stringify(data).replace(/</g, "\\u003c");
  writeFileSync(join(folder, "confused.html"), html.replace(/(<script id="tyche-data" type="application\/json">)[\s\S]*?(<\/script>)/, (_, a, b) => a + text + b));
}

async function main() {
  makePage();
  makeRuns();
  tyche("reproduce", "exp-curves.toml", "attack.toml", "--out", "out", "--quiet");
  tyche("report", "out", "--out", "report.html", "--pairs", "4");
  compare("g6:EhEG", "g6:EwCW", "--page", "two.html");
  compare("g6:EhEG", "g6:EhEG", "--page", "copy.html");
  makeConfused();
  const browser = await chromium.launch({
    executablePath: browserPath,
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
  });
  try {
    for (const [width, scheme] of [[1280, "light"], [390, "dark"]]) {
      await use(browser, width, scheme);
      await usePair(browser, width, scheme);
      await useJudged(browser, width, scheme);
      await useTraining(browser, width, scheme);
    }
    for (const width of [1300, 800]) await fits(browser, width);
    await useChosen(browser);
    await useGone(browser);
    await useConfused(browser);
    await useCopy(browser);
  } finally {
    await browser.close();
  }
}

/** A page of the folder in a window, and whatever goes wrong in it. Colours change at once unless motion is wanted. */
async function openPage(browser, file, width, scheme, motion = "reduce") {
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme: scheme, reducedMotion: motion });
  const page = await context.newPage();
  const troubles = [];
  page.on("console", (m) => { if (["error", "warning"].includes(m.type())) troubles.push(`console: ${m.text()}`); });
  page.on("pageerror", (e) => troubles.push(`error: ${e.message}`));
  page.on("dialog", (d) => { troubles.push(`dialog: ${d.message()}`); d.dismiss(); });
  page.on("request", (r) => { if (!/^(file|data):/.test(r.url())) troubles.push(`request: ${r.url()}`); });
  await page.goto(pathToFileURL(join(folder, file)).href);
  return { page, troubles, context };
}

/** What the viewer says and shows, to be asked again after every action. */
function look(page) {
  const node = (side, v) => page.locator(".drawn").nth(side).locator(`[data-node="${v}"]`);
  return {
    node,
    says: () => page.locator(".verdict").textContent(),
    colours: (side) => page.locator(".drawn").nth(side).locator(".node").evaluateAll((nodes) => nodes.map((n) => n.dataset.class)),
    count: async () => Number(/^(\d+) colour/.exec(await page.locator(".census caption").textContent())[1]),
    control: (name) => page.locator(`[data-control="${name}"]`),
    chosen: (side) => page.locator(".drawn").nth(side).locator(".node.chosen").count(),
  };
}

async function use(browser, width, scheme) {
  const { page, troubles, context } = await openPage(browser, "report.html", width, scheme);

  // Names are text.
  assert.equal(await page.title(), "tyche: results beside the paper’s");
  assert.equal(await page.locator("#e-attack h2").textContent(), NAME);
  assert.equal(await page.locator("#e-attack .results tbody th").first().textContent(), NAME);

  // Tables are filled, with the paper's numbers beside ours.
  const row = page.locator("#e-exp-curves .results").first().locator('tr[data-model="GCN"]').first();
  const cells = await row.locator("td").allTextContents();
  assert.match(cells[0], /^\d+\.\d\d ± \d+\.\d\d$/);
  assert.equal(cells[1], "50.00 at epoch 10"); // its curve there, not the 74.25 of its end
  assert.match(cells[2], /^[+−]?\d+\.\d\d$/);
  assert.match(cells[3], /within|ahead|behind/);
  assert.match(cells[4], /^(\d+|never)$/);
  assert.match(cells[5], /2 of 4 folds, 10 epochs/);

  // Curves are drawn: a line for each of ours and of the paper's, with ink in it.
  const chart = page.locator("#e-exp-curves .chart").first();
  await chart.scrollIntoViewIfNeeded();
  await chart.locator("svg .our-line path, svg path.our-line").first().waitFor({ state: "attached" });
  const lines = async (kind) => chart.locator(`svg g.${kind} path, svg path.${kind}`).count();
  assert.equal(await lines("our-line"), 3);
  assert.equal(await lines("band"), 3);
  await chart.getByLabel("all 500 epochs of the paper").check();
  assert.equal(await lines("paper-line"), 2);
  await chart.getByLabel("all 500 epochs of the paper").uncheck();
  const box = await chart.locator("svg g.our-line path, svg path.our-line").last().boundingBox();
  assert.ok(box.width > 100, "a curve has some length");

  // The legend hides and shows, by mouse and by keyboard.
  const toggle = chart.locator(".toggle").first();
  await toggle.click();
  assert.equal(await toggle.getAttribute("aria-pressed"), "false");
  assert.equal(await lines("our-line"), 2);
  await toggle.focus();
  await page.keyboard.press("Enter");
  assert.equal(await toggle.getAttribute("aria-pressed"), "true");
  assert.equal(await lines("our-line"), 3);
  await chart.getByLabel("the paper’s curves").uncheck();
  assert.equal(await lines("paper-line"), 0);
  await chart.getByLabel("one deviation").uncheck();
  assert.equal(await lines("band"), 0);
  await chart.getByLabel("one deviation").check();

  // Values are read off where the pointer is, and by the slider.
  const plot = await chart.locator("svg").first().boundingBox();
  await page.mouse.move(plot.x + 60, plot.y + plot.height / 2);
  const early = await chart.locator(".epoch").textContent();
  await page.mouse.move(plot.x + plot.width - 20, plot.y + plot.height / 2);
  const late = await chart.locator(".epoch").textContent();
  assert.notEqual(early, late);
  await chart.locator("input[type=range]").focus();
  await page.keyboard.press("Home");
  assert.equal(await chart.locator(".epoch").textContent(), "epoch 1");
  assert.match(await chart.locator(".legend tbody td").first().textContent(), /^\d+\.\d\d$/);

  // The split: buttons for all graphs and the subsets.
  await page.locator('#e-exp-curves [data-subset="CORRUPT"]').click();
  assert.match(await page.locator("#e-exp-curves .chart figcaption").first().textContent(), /CORRUPT/);
  await page.locator("#e-exp-curves .chart").first().locator("svg path").first().waitFor({ state: "attached" });

  // A pair is drawn: as many shapes as nodes, as many lines as edges.
  const data = page.locator("#data");
  await data.scrollIntoViewIfNeeded();
  for (let i = 0; i < 2; ++i) {
    const drawn = data.locator(".drawn").nth(i);
    const [, nodes, edges] = /(\d+) nodes, (\d+) edges/.exec(await drawn.locator("figcaption").textContent());
    assert.equal(await drawn.locator("svg g.node").count(), Number(nodes));
    assert.equal(await drawn.locator("svg line.edge").count(), Number(edges));
  }
  const first = await data.locator(".drawn").first().locator("figcaption").textContent();
  await data.getByLabel("Next pair").click();
  assert.notEqual(await data.locator(".drawn").first().locator("figcaption").textContent(), first);

  // 1-WL, step by step, on a pair it cannot tell apart: colours stay equal on both sides; 2-WL tells.
  const option = await data.locator("select").last().locator("option", { hasText: "(EXP" }).first().getAttribute("value");
  await data.locator("select").last().selectOption(option);
  await data.locator('[data-mode="wl"]').click();
  const rounds = Number(/of (\d+)/.exec(await data.locator(".round").textContent())[1]);
  assert.ok(rounds >= 1);
  let colours = 0;
  for (let r = 0; r <= rounds; ++r) {
    assert.equal(await data.locator(".round").textContent(), `round ${r} of ${rounds}`);
    const count = Number(/^(\d+) colours/.exec(await data.locator(".census caption").textContent())[1]);
    assert.ok(count >= colours, "refinement never merges colours");
    colours = count;
    assert.equal(await data.locator(".census .differs").count(), 0);
    if (r < rounds) {
      await data.locator('[data-control="next"]').focus();
      await page.keyboard.press("Enter");
    }
  }
  assert.equal(await data.locator('[data-control="next"]').isDisabled(), true);
  const verdicts = await data.locator(".verdicts").textContent();
  assert.match(verdicts, /1-WL cannot tell them apart/);
  assert.match(verdicts, /2-WL tells them apart after round \d/);

  // One node individualised in each: colours split, and the pair, which 1-WL takes for equal, comes apart for some node.
  const shown = look(page);
  assert.match(await shown.says(), /still equal: 1-WL cannot tell them apart/);
  const cores = await data.locator(".drawn").first().locator(".node").count();
  let apart = false;
  for (let v = 0; v < cores && !apart; ++v) {
    await shown.node(0, v).focus();
    await page.keyboard.press("Enter");
    assert.equal(await shown.chosen(0), 1);
    assert.equal(await shown.chosen(1), 1);
    assert.ok(await shown.count() >= colours, "individualising never merges colours");
    apart = /they differ now.*not isomorphic/.test(await shown.says());
    if (apart) {
      assert.ok(await shown.count() > colours);
      assert.ok(await data.locator(".census .differs").count() > 0);
      assert.ok(await data.locator(".node.off").count() > 0);
    }
    await shown.control("undo").click();
    assert.equal(await shown.count(), colours);
    assert.equal(await shown.chosen(0), 0);
  }
  assert.ok(apart, "some node tells the pair apart");

  // Nothing sticks out to the side; light and dark can be changed; it prints.
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "no sideways scrolling");
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const before = await ground();
  await page.getByLabel("Light or dark").click();
  assert.notEqual(await ground(), before);
  await page.emulateMedia({ media: "print" });
  assert.equal(await ground(), "rgb(255, 255, 255)");
  assert.equal(await page.locator("nav").isVisible(), false);

  assert.deepEqual(troubles, []);
  await context.close();
}

/** The first table of every page is seen whole: nothing of it has to be scrolled to. */
async function fits(browser, width) {
  for (const file of ["report.html", "mine.html", "judged.html"]) {
    const { page, context } = await openPage(browser, file, width, "light");
    const box = page.locator(".scroll:has(table)").first();
    const [has, wants] = await box.evaluate((e) => [e.clientWidth, e.scrollWidth]);
    assert.ok(has > 0 && wants <= has, `${file}: at ${width} pixels its first table is ${wants} wide and has ${has}`);
    await context.close();
  }
}

/** The page of `tyche wl A B --page`: a hexagon and two triangles, with one click. */
async function usePair(browser, width, scheme) {
  const { page, troubles, context } = await openPage(browser, "two.html", width, scheme);
  const shown = look(page);
  assert.equal(await page.title(), "tyche: g6:EhEG and g6:EwCW");
  assert.match(await page.locator("#how").textContent(), /tyche wl g6:EhEG g6:EwCW --page two\.html/);
  assert.equal(await page.locator("select").count(), 0);
  assert.match(await page.locator(".verdicts").textContent(), /1-WL cannot tell them apart.*2-WL tells them apart.*not isomorphic/);
  assert.match(await shown.says(), /still equal: 1-WL cannot tell them apart/);
  assert.equal(await shown.control("undo").isDisabled(), true);

  // A click: distances from the node become colours, in the hexagon 1 2 2 1 nodes, in the triangles 1 2 3.
  await shown.node(0, 0).click();
  const sizes = async (side) => {
    const seen = new Map();
    for (const c of await shown.colours(side)) seen.set(c, (seen.get(c) ?? 0) + 1);
    return [...seen.values()].sort();
  };
  assert.deepEqual(await sizes(0), [1, 2, 2, 1].sort());
  assert.deepEqual(await sizes(1), [1, 2, 3]);
  const [left, right] = [await shown.colours(0), await shown.colours(1)];
  assert.ok(left.every((c) => !right.includes(c)), "in the end no colour is in both");
  assert.equal(left[1], left[5]);
  assert.match(await shown.says(), /they differ now.*whichever of the 6 nodes.*not isomorphic/);
  assert.match(await page.locator(".path li").textContent(), /node 0 left, node 0 right: 1 → \d colours; 0 of 6 counterparts keep the colours equal/);

  // Back through the rounds, and on; undo.
  await shown.control("back").click();
  assert.match(await shown.says(), /equal so far|they differ/);
  await shown.control("slider").focus();
  await page.keyboard.press("Home");
  assert.equal(await shown.count(), 1);
  await page.keyboard.press("ArrowRight");
  assert.equal((await shown.colours(0))[0], (await shown.colours(1))[0], "the individualised nodes share their new colour");
  assert.equal(await shown.count(), 2);
  assert.match(await shown.says(), /^equal so far/);
  await page.keyboard.press("End");
  assert.deepEqual(await shown.colours(0), left);
  await shown.control("undo").click();
  assert.equal(await shown.count(), 1);
  assert.match(await shown.says(), /still equal/);

  // The other graph, by keyboard; arrow keys go from node to node.
  await shown.node(1, 0).focus();
  await page.keyboard.press("ArrowRight");
  const reached = await page.evaluate(() => document.activeElement.getAttribute("data-node"));
  assert.notEqual(reached, "0");
  await page.keyboard.press(" ");
  assert.ok((await shown.node(1, Number(reached)).getAttribute("class")).includes("chosen"));
  assert.equal(await shown.chosen(0), 1);
  await shown.control("reset").click();
  assert.equal(await shown.count(), 1);

  // One's own counterpart: asked for, given up with Escape, chosen.
  await shown.control("own").check();
  await shown.node(0, 2).click();
  assert.equal(await page.locator(".node.would-differ").count(), 6);
  assert.match(await page.locator(".asked").textContent(), /Node 2 on the left: now pick one of the 6 ringed nodes/);
  await page.keyboard.press("Escape");
  assert.equal(await page.locator(".node.would-differ").count(), 0);
  await shown.node(0, 2).click();
  await shown.node(1, 4).click();
  assert.match(await page.locator(".path li").textContent(), /node 2 left, node 4 right/);
  await shown.control("own").uncheck();
  await shown.control("reset").click();

  // At random, one step and to the end: every node has its own colour, and renumbered the graphs are not equal.
  await shown.control("random").click();
  assert.equal(await page.locator(".path li").count(), 1);
  await shown.control("leaf").click();
  for (const side of [0, 1]) assert.equal(new Set(await shown.colours(side)).size, 6);
  assert.match(await shown.says(), /they differ now.*not isomorphic.*renumbered by colour, the two graphs differ in \d+ places/);
  assert.equal(await shown.control("random").isDisabled(), true);

  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "no sideways scrolling");
  await page.emulateMedia({ media: "print" });
  assert.equal(await shown.control("random").isVisible(), false);
  assert.equal(await page.locator(".verdict").isVisible(), true);
  assert.equal(await page.locator(".path").isVisible(), true);
  assert.deepEqual(troubles, []);
  await context.close();
}

/** A graph and itself: clicks never set it apart, and the rounds are played one after another for those who like motion. */
async function useCopy(browser) {
  const { page, troubles, context } = await openPage(browser, "copy.html", 1280, "light", "no-preference");
  const shown = look(page);
  const start = await page.locator(".round").textContent();
  await shown.control("own").check();
  await shown.node(0, 3).click();
  assert.equal(await page.locator(".node.would-agree").count(), 6);
  assert.equal(await page.locator(".verdict").isVisible(), false);
  await shown.control("cancel").click();
  await shown.control("own").uncheck();
  await shown.node(0, 3).click();
  await page.waitForFunction(() => /^still equal/.test(document.querySelector(".verdict").textContent));
  const [, at, end] = /round (\d+) of (\d+)/.exec(await page.locator(".round").textContent());
  assert.equal(at, end);
  assert.notEqual(start, `round ${at} of ${end}`);
  await shown.node(1, 5).click();
  await page.waitForFunction(() => /^the same graph/.test(document.querySelector(".verdict").textContent));
  assert.match(await shown.says(), /renumbered by colour the two graphs are equal, edge for edge: they are isomorphic/);
  assert.match(await page.locator(".verdicts").textContent(), /they are isomorphic/);
  assert.deepEqual(troubles, []);
  await context.close();
}

/** The page of a run of distinguish. */
async function useJudged(browser, width, scheme) {
  const { page, troubles, context } = await openPage(browser, "judged.html", width, scheme);
  const shown = look(page);
  assert.equal(await page.title(), "tyche: pairs told apart, <b>pairs.txt");
  const all = page.locator('.counts-table tr[data-category="all"] td');
  assert.deepEqual(await all.allTextContents(), ["3", "2", "0", "1", "1", "2", "2", "2"]);
  assert.equal(await page.locator(".published").count(), 0);

  // The isomorphic pair failed, so it comes first, in the list and in the viewer.
  const line = (name) => page.locator(`.pair-list tr[data-pair="${name}"]`);
  assert.equal(await page.locator(".pair-list tbody tr").first().getAttribute("data-pair"), "1");
  assert.match(await line("1").textContent(), /not told apart.*isomorphic/);
  assert.match(await line("0").textContent(), /told apart.*· 10⁻/);
  assert.equal(await line("2").locator("button").count(), 0, "301 nodes are not drawn");
  assert.equal(await page.locator("#look .drawn .node").count(), 14);
  assert.match(await page.locator(".caption").textContent(), /seed 1: not told apart, p = .* times of 64.*seed 2/);
  assert.ok((await line("1").getAttribute("class")).includes("marked"));
  await page.locator('[data-control="failed"]').check();
  assert.equal(await page.locator(".pair-list tbody tr").count(), 1);
  await page.locator('[data-control="failed"]').uncheck();

  // Another pair, from the list: drawn, refined and individualised here.
  await line("0").locator("button").click();
  assert.equal(await page.locator("#look .drawn .node").count(), 12);
  assert.equal(await page.locator("#look .drawn line.edge").count(), 12);
  assert.ok((await line("0").getAttribute("class")).includes("marked"));
  assert.match(await page.locator(".verdicts").textContent(), /1-WL cannot tell them apart.*2-WL tells them apart.*not isomorphic/);
  await shown.node(0, 0).click();
  assert.match(await shown.says(), /they differ now.*whichever of the 6 nodes.*not isomorphic/);
  await page.getByLabel("Next pair").click();
  assert.equal(await page.locator("#look .drawn .node").count(), 14);

  assert.match(await page.locator("#how").textContent(), /tyche distinguish '.*<b>pairs\.txt'.* --random colours --depth 2.* --seeds 2/);
  await page.locator("#how summary").click();
  assert.match(await page.locator(".settings").textContent(), /model\.width16/);
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "no sideways scrolling");
  assert.deepEqual(troubles, []);
  await context.close();
}

/** The same after its data is gone: everything but the pictures. */
async function useGone(browser) {
  const { page, troubles, context } = await openPage(browser, "gone.html", 1280, "light");
  assert.match(await page.locator(".missing").textContent(), /There are no pictures: .*pairs\.txt/);
  assert.equal(await page.locator(".pair-list tbody tr").count(), 3);
  assert.equal(await page.locator(".pair-list button").count(), 0);
  assert.equal(await page.locator(".drawn").count(), 0);
  assert.deepEqual(troubles, []);
  await context.close();
}

/** Pairs under a summary, drawn here; one of them with labelled edges. */
async function useConfused(browser) {
  const { page, troubles, context } = await openPage(browser, "confused.html", 390, "dark");
  const shown = look(page);
  assert.equal(await page.locator("h1").textContent(), `${NAME}: alike`);
  assert.deepEqual(await page.locator(".summary tr").last().locator("td").allTextContents(), ["50 %", "by 1-WL"]);
  assert.deepEqual(await page.locator("#training li").allTextContents(), ["Graphs are sorted by label."]);
  assert.match(await page.locator("#look .lead").textContent(), /2 more have a graph too large to draw/);
  assert.equal(await page.locator(".caption").textContent(), "Labels 0 and 1.");
  assert.match(await shown.says(), /still equal: 1-WL cannot tell them apart/);
  await shown.node(0, 0).click();
  assert.match(await shown.says(), /they differ now.*not isomorphic/);
  await page.getByLabel("Next pair").click();
  assert.equal(await page.locator(".caption").isVisible(), false);
  assert.equal(await page.locator(".edge.labelled").count(), 4);
  assert.match(await page.locator(".key").textContent(), /Colours of edges stand for their labels/);
  assert.match(await shown.says(), /the same graph/);  // labels make every node its own colour
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "no sideways scrolling");
  assert.deepEqual(troubles, []);
  await context.close();
}

/** The page of a run of train, whole and unfinished. */
async function useTraining(browser, width, scheme) {
  const { page, troubles, context } = await openPage(browser, "mine.html", width, scheme);
  assert.equal(await page.title(), "tyche: gcn on exp");
  assert.match(await page.locator(".how-far").textContent(), /^ 3 folds, 6 epochs$/);
  assert.equal(await page.locator(".folds-table tbody tr").count(), 4);
  assert.match(await page.locator(".folds-table .total").textContent(), /^mean.*\d+\.\d\d ± \d+\.\d\d/);
  const charts = page.locator("#curves .chart");
  assert.deepEqual(await charts.locator("figcaption").allTextContents(),
    ["Loss", "Accuracy", "Balanced accuracy", "F1", "ROC AUC", "Average precision"]);
  const chart = charts.nth(1);
  await chart.scrollIntoViewIfNeeded();
  await chart.locator("svg .our-line path, svg path.our-line").first().waitFor({ state: "attached" });
  const lines = async (kind) => chart.locator(`svg g.${kind} path, svg path.${kind}`).count();
  assert.equal(await lines("our-line"), 2);  // train and test
  assert.equal(await lines("fold-line"), 6);
  assert.equal(await lines("band"), 2);
  await chart.getByLabel("every fold").uncheck();
  assert.equal(await lines("fold-line"), 0);
  await chart.locator(".toggle").first().click();
  assert.equal(await lines("our-line"), 1);
  assert.match(await chart.locator(".legend tbody td").last().textContent(), /^\d/);
  assert.match(await page.locator("#how").textContent(), /tyche train --data .*exp --width 8.* --out RUN/);
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "no sideways scrolling");
  await page.goto(pathToFileURL(join(folder, "unfinished.html")).href);
  assert.match(await page.locator(".how-far").textContent(), /unfinished under way: 2 of 3 folds done, 12 of 18 epochs in all \(67 %\)/);
  assert.deepEqual(troubles, []);
  await context.close();
}

/** A run that was tested once, at the epoch that validation chose: the number of summary.json leads the page. */
async function useChosen(browser) {
  const { page, troubles, context } = await openPage(browser, "chosen.html", 1280, "light");
  const summary = JSON.parse(readFileSync(join(folder, "chosen/summary.json"), "utf8"));
  const number = `${(100 * summary.test_accuracy_mean).toFixed(2)} ± ${(100 * summary.test_accuracy_std).toFixed(2)}`;
  const facts = await page.locator(".facts .fact").allTextContents();
  assert.ok(facts.includes(`${number}test accuracy, %`), `${number} in ${facts}`);
  assert.match(await page.locator("header .lead, .lead").first().textContent(), /those of the epoch with the best validation loss/);
  const heads = await page.locator(".folds-table th[scope=col]").allTextContents();
  const cells = await page.locator(".folds-table tbody tr").first().locator("td").allTextContents();
  assert.equal(cells[heads.indexOf("chosen") - 1], String(summary.folds[0].best_epoch));
  assert.equal(cells[heads.indexOf("test accuracy, %") - 1], (100 * summary.folds[0].test_accuracy).toFixed(2));
  assert.deepEqual(troubles, []);
  await context.close();
}

try {
  await main();
  console.log("the page works");
} finally {
  rmSync(folder, { recursive: true, force: true });
}
