// Runs side by side: a line for each, a column for each metric (src/report/runs.cpp).
import type { RunsReport } from "./data";
import { h, themeButton } from "./dom";

export function runsPage(page: RunsReport): { top: HTMLElement[]; main: HTMLElement[] } {
  document.title = `tyche: ${page.runs.length} runs`;
  const [heads, ...rows] = page.table;
  // Between who it is (run, data, model) and how it was made (values of, run for, time) stand the metrics.
  const number = (column: number): boolean => column >= 3 && column < heads.length - 3;
  return {
    top: [
      h("div", { class: "bar-top" }, h("span", { class: "brand" }, "tyche"), themeButton()),
      h("h1", {}, `${page.runs.length} runs side by side`),
      h("p", { class: "lead" }, "The test results that each run reports: of the test at its end, of the epoch that validation chose, or of the last. Means ± population standard deviations over folds, or seeds of distinguish."),
    ],
    main: [
      h("section", { id: "runs" }, h("h2", {}, "The runs"),
        h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "The runs" }, h("table", { class: "results" },
          h("thead", {}, h("tr", {}, heads.map((head, i) => h("th", { scope: "col", class: number(i) ? "number" : "" }, head)))),
          h("tbody", {}, rows.map((row, r) => h("tr", {}, row.map((cell, i) => i === 0
            ? h("th", { scope: "row" }, cell, !page.runs[r].complete && h("span", { class: "badge off" }, "unfinished"))
            : h("td", { class: number(i) ? "number strong" : "" }, cell)))))))),
      h("section", { id: "how" }, h("h2", {}, "How it was made"),
        h("dl", { class: "call" }, h("dt", {}, "command"), h("dd", {}, h("code", {}, page.command)),
          h("dt", {}, "when"), h("dd", {}, `${page.made}, tyche ${page.version}`))),
    ],
  };
}
