// node build.mjs OUT: bundles src/ into one page without references to anything outside it. `tyche report` puts the data in.
import { build } from "esbuild";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2];
if (!out) {
  console.error("usage: node build.mjs OUT");
  process.exit(2);
}

const common = { bundle: true, minify: true, write: false, legalComments: "none", charset: "utf8" };
const script = await build({ ...common, entryPoints: [join(here, "src/main.ts")], format: "iife", target: "es2020" });
const style = await build({ ...common, entryPoints: [join(here, "src/style.css")], target: ["chrome100", "firefox100", "safari15"] });

// The bundle goes into a script element: nothing in it may look like that element's end.
const js = script.outputFiles[0].text.replace(/<\/(script)/gi, "<\\/$1").replace(/<!--/g, "<\\!--");
const css = style.outputFiles[0].text;
const fill = (text, mark, value) => {
  if (text.split(mark).length !== 2) throw new Error(`page.html must hold ${mark} once`);
  return text.replace(mark, () => value);
};
let page = readFileSync(join(here, "src/page.html"), "utf8");
page = fill(page, "/* style goes here */", css);
page = fill(page, "/* script goes here */", js);
mkdirSync(dirname(out), { recursive: true });
writeFileSync(out + ".tmp", page);
renameSync(out + ".tmp", out);
console.log(`${out}: ${(page.length / 1024).toFixed(0)} KiB`);
