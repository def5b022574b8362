// The page of two graphs, as `tyche wl A B --page` makes it.
import type { Pair, Report } from "./data";
import { h, themeButton } from "./dom";
import { graphName } from "./picture";
import { viewer } from "./viewer";

export function pairPage(report: Report): { top: HTMLElement[]; main: HTMLElement[] } {
  const names = (report.data[0].pairs[0] as Pair).graphs.map(graphName);
  document.body.classList.add("pair");  // wider than a page of text
  document.title = `tyche: ${names.join(" and ")}`;
  return {
    top: [
      h("div", { class: "bar-top" }, h("span", { class: "brand" }, "tyche"), themeButton()),
      h("h1", {}, "Two graphs, and what tells them apart"),
      h("p", { class: "lead" }, "Colour refinement (1-WL) gives nodes the same colour as long as their neighbourhoods look the same; a message-passing network sees no more. Where it cannot tell two graphs apart, single out one node and watch the colours split: random node initialisation gives networks just that."),
    ],
    main: [
      h("section", { id: "data" }, viewer(report.data, "wl").element),
      h("section", { id: "how" }, h("h2", {}, "How it was made"),
        h("dl", { class: "call" }, h("dt", {}, "command"), h("dd", {}, h("code", {}, report.command)),
          h("dt", {}, "when"), h("dd", {}, `${report.made}, tyche ${report.version}`))),
    ],
  };
}
