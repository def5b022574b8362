// node page.mjs TYCHE: makes results and their page with the program TYCHE, opens the page in Chromium from file:// and uses it.
// Exit code 77 (skipped) where Chromium or playwright-core is missing.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const program = process.argv[2];
const skip = (why) => { console.log(`skipped: ${why}`); process.exit(77); };

const browserPath = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser"].find((p) => p && existsSync(p));
if (!browserPath) skip("Chromium is not installed (Debian: apt-get install chromium)");
const playwright = join(here, "../node_modules/playwright-core/index.mjs");
if (!existsSync(playwright)) skip("web/node_modules is missing: the page was not built (needs node, npm and the network)");
const { chromium } = await import(pathToFileURL(playwright).href);

const folder = mkdtempSync(join(tmpdir(), "tyche-page-"));
const tyche = (...args) => execFileSync(program, args, { cwd: folder, stdio: ["ignore", "pipe", "inherit"], encoding: "utf8" });
const NAME = `<script>document.title = "broken"</script> & "co"`;

function makePage() {
  // Two experiments: one with the paper's names on CEXP, one whose names are an attack.
  writeFileSync(join(folder, "exp-curves.toml"), `
title = "Learning curves"
paper = "Figure 2b"
paper_data = "CEXP"
show = ["table", "curves", "split", "deviation"]
[data]
generate = "cexp"
pairs = 12
[defaults]
model.width = 8
model.layers = 2
folds.count = 4
folds.run = 2
training.epochs = 8
training.batch = 4
[[models]]
name = "GCN"
[[models]]
name = "GCN-50%RNI"
model.rni = 0.5
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

async function main() {
  makePage();
  tyche("reproduce", "exp-curves.toml", "attack.toml", "--out", "out", "--quiet");
  tyche("report", "out", "--out", "report.html", "--pairs", "4");
  const browser = await chromium.launch({
    executablePath: browserPath,
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
  });
  try {
    for (const [width, scheme] of [[1280, "light"], [390, "dark"]]) await use(browser, width, scheme);
  } finally {
    await browser.close();
  }
}

async function use(browser, width, scheme) {
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme: scheme });
  const page = await context.newPage();
  const troubles = [];
  page.on("console", (m) => { if (["error", "warning"].includes(m.type())) troubles.push(`console: ${m.text()}`); });
  page.on("pageerror", (e) => troubles.push(`error: ${e.message}`));
  page.on("dialog", (d) => { troubles.push(`dialog: ${d.message()}`); d.dismiss(); });
  page.on("request", (r) => { if (!/^(file|data):/.test(r.url())) troubles.push(`request: ${r.url()}`); });
  await page.goto(pathToFileURL(join(folder, "report.html")).href);

  // Names are text.
  assert.equal(await page.title(), "tyche: results beside the paper’s");
  assert.equal(await page.locator("#e-attack h2").textContent(), NAME);
  assert.equal(await page.locator("#e-attack .results tbody th").first().textContent(), NAME);

  // Tables are filled, with the paper's numbers beside ours.
  const row = page.locator("#e-exp-curves .results").first().locator('tr[data-model="GCN"]').first();
  const cells = await row.locator("td").allTextContents();
  assert.match(cells[0], /^\d+\.\d\d ± \d+\.\d\d$/);
  assert.equal(cells[1], "74.25");
  assert.match(cells[2], /^[+−]?\d+\.\d\d$/);
  assert.match(cells[3], /within|outside/);
  assert.match(cells[4], /2 of 4 folds, 8 epochs/);

  // Curves are drawn: a line for each of ours and of the paper's, with ink in it.
  const chart = page.locator("#e-exp-curves .chart").first();
  await chart.scrollIntoViewIfNeeded();
  await chart.locator("svg .our-line path, svg path.our-line").first().waitFor({ state: "attached" });
  const lines = async (kind) => chart.locator(`svg g.${kind} path, svg path.${kind}`).count();
  assert.equal(await lines("our-line"), 2);
  assert.equal(await lines("band"), 2);
  await chart.getByLabel("all 500 epochs of the paper").check();
  assert.equal(await lines("paper-line"), 2);
  await chart.getByLabel("all 500 epochs of the paper").uncheck();
  const box = await chart.locator("svg g.our-line path, svg path.our-line").last().boundingBox();
  assert.ok(box.width > 100, "a curve has some length");

  // The legend hides and shows, by mouse and by keyboard.
  const toggle = chart.locator(".toggle").first();
  await toggle.click();
  assert.equal(await toggle.getAttribute("aria-pressed"), "false");
  assert.equal(await lines("our-line"), 1);
  await toggle.focus();
  await page.keyboard.press("Enter");
  assert.equal(await toggle.getAttribute("aria-pressed"), "true");
  assert.equal(await lines("our-line"), 2);
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

try {
  await main();
  console.log("the page works");
} finally {
  rmSync(folder, { recursive: true, force: true });
}
