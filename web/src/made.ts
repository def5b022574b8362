// How a run was made: the command that makes it again, calls, settings. Shared by the pages of single runs.
import type { Made } from "./data";
import { h } from "./dom";

/** Key, value, what it is. */
export type Setting = [key: string, value: unknown, comment: string];

const shown = (value: unknown): string => value === null || value === "" ? "–" : Array.isArray(value) ? (value.length === 0 ? "none" : value.join(", ")) : String(value);

export function settingsTable(settings: Setting[]): HTMLElement {
  return h("details", { class: "more" }, h("summary", {}, "Settings"),
    h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Settings" }, h("table", { class: "results small settings" },
      h("tbody", {}, settings.map(([key, value, comment]) => h("tr", {}, h("th", { scope: "row" }, h("code", {}, key)), h("td", {}, shown(value)), h("td", { class: "muted" }, comment)))))));
}

export function howMade(page: Made, command: string, data: string, engine: string, calls: string[], details: HTMLElement): HTMLElement {
  const line = (name: string, value: (Node | string)[]): HTMLElement[] => [h("dt", {}, name), h("dd", {}, value)];
  return h("section", { id: "how" }, h("h2", {}, "How it was made"),
    h("dl", { class: "call" },
      line("again", [h("code", {}, `${command} --out RUN`)]),
      line("data", [data]),
      engine ? line("engine", [engine]) : [],
      calls.flatMap((call) => line("when", [call])),
      line("this page", [h("code", {}, page.command), ` (${page.made}, tyche ${page.version})`])),
    details);
}
