// What the tests without a browser share: modules of the page's source, bundled and loaded.
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));

/** All that these modules of web/src export. Exits with 77 (skipped) where the page was not built. */
export async function load(names) {
  const esbuild = join(here, "../node_modules/esbuild/lib/main.js");
  if (!existsSync(esbuild)) {
    console.log("skipped: web/node_modules is missing: the page was not built (needs node, npm and the network)");
    process.exit(77);
  }
  const { build } = (await import(pathToFileURL(esbuild).href)).default;
  const stdin = { contents: names.map((name) => `export * from "./${name}";`).join(""), resolveDir: join(here, "../src"), loader: "ts" };
  const built = await build({ stdin, bundle: true, write: false, format: "esm" });
  return import(`data:text/javascript;base64,${Buffer.from(built.outputFiles[0].contents).toString("base64")}`);
}
