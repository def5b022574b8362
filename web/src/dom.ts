// Elements without markup in strings: text is always text, so a name like "<script>" shows as it is written.

type Child = Node | string | number | null | undefined | false | Child[];
type Attributes = Record<string, string | number | boolean | null | undefined | ((event: any) => void)>;

function append(parent: Element, children: Child[]): void {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    if (Array.isArray(child)) append(parent, child);
    else parent.append(child instanceof Node ? child : String(child));
  }
}

function make<E extends Element>(element: E, attributes: Attributes, children: Child[]): E {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  append(element, children);
  return element;
}

/** h("p", { class: "note" }, "text") */
export function h<K extends keyof HTMLElementTagNameMap>(tag: K, attributes: Attributes = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  return make(document.createElement(tag), attributes, children);
}

/** The same for SVG. */
export function svg<K extends keyof SVGElementTagNameMap>(tag: K, attributes: Attributes = {}, ...children: Child[]): SVGElementTagNameMap[K] {
  return make(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

/** Changes between light and dark. */
export function themeButton(): HTMLButtonElement {
  return h("button", { type: "button", class: "theme", "aria-label": "Light or dark", title: "Light or dark", onclick: () => {
    const root = document.documentElement;
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
  } }, "◐");
}

export function duration(seconds: number): string {
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${String(whole % 60).padStart(2, "0")} s`;
  return `${Math.floor(whole / 3600)} h ${String(Math.floor((whole % 3600) / 60)).padStart(2, "0")} min`;
}

/** "98.0 ± 1.9": two decimals, the deviation where there is one. */
export function percent(mean: number, deviation?: number): string {
  return deviation === undefined ? mean.toFixed(2) : `${mean.toFixed(2)} ± ${deviation.toFixed(2)}`;
}

export function signed(value: number): string {
  const text = Math.abs(value).toFixed(2);
  return text === "0.00" ? "0.00" : (value < 0 ? "−" : "+") + text;
}
