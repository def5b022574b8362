// A page that was opened as a file may neither fetch the index of the search nor start a worker. The index comes as a
// script then, and the worker's code runs in a frame that stands in for it.
if (location.protocol === "file:") {
  const root = document.currentScript.dataset.root;
  document.write(`<script src="${root}/search/search_index.js"></` + "script>");
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.appendChild(this.frame);
      const inside = this.frame.contentWindow;
      inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      this.waiting = [];
      const script = inside.document.createElement("script");
      script.src = url;
      script.onload = () => {
        this.ready = true;
        this.waiting.forEach((data) => this.postMessage(data));
      };
      inside.document.body.appendChild(script);
    }
    postMessage(data) {
      if (!this.ready) return void this.waiting.push(data);
      const inside = this.frame.contentWindow;
      inside.dispatchEvent(new inside.MessageEvent("message", { data }));
    }
  };
}
