// A page of pairs that something takes for equal, under a summary (src/report/confused_page.cpp).
import type { ConfusedReport } from "./data";
import { h, themeButton } from "./dom";
import { viewer } from "./viewer";

export function confusedPage(page: ConfusedReport): { top: HTMLElement[]; main: HTMLElement[] } {
  document.title = `tyche: ${page.title}`;
  const left = page.too_large > 0 ? ` ${page.too_large} more ${page.too_large === 1 ? "has" : "have"} a graph too large to draw.` : "";
  return {
    top: [
      h("div", { class: "bar-top" }, h("span", { class: "brand" }, "tyche"), themeButton()),
      h("h1", {}, page.title),
      h("p", { class: "lead" }, page.lead),
    ],
    main: [
      ...(page.notes.length === 0 ? [] : [h("section", { id: "training" }, h("h2", {}, "For training"),
        h("ul", {}, page.notes.map((note) => h("li", {}, note))))]),
      ...(page.rows.length === 0 ? [] : [h("section", { id: "summary" }, h("h2", {}, "In numbers"),
        h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "In numbers" }, h("table", { class: "results summary" },
          h("tbody", {}, page.rows.map(([name, value, note]) => h("tr", {}, h("th", { scope: "row" }, name), h("td", { class: "number strong" }, value), h("td", { class: "muted" }, note)))))))]),
      h("section", { id: "look" }, h("h2", {}, "Pairs that look alike"),
        page.pairs.length === 0 ? h("p", { class: "muted" }, `There is none to show.${left}`) : [
          h("p", { class: "lead" }, `Colour refinement (1-WL) gives nodes the same colour as long as their neighbourhoods look the same; a message-passing network sees no more. Click a node to give it a colour of its own, which random inputs do, and see whether the two come apart.${left}`),
          viewer([{ name: page.title, pairs: page.pairs }], "wl").element]),
      h("section", { id: "how" }, h("h2", {}, "How it was made"),
        h("dl", { class: "call" }, h("dt", {}, "command"), h("dd", {}, h("code", {}, page.command)),
          h("dt", {}, "when"), h("dd", {}, `${page.made}, tyche ${page.version}`))),
    ],
  };
}
