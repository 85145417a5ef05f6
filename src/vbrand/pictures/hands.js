"use strict";
// what a hand can do to a figure, by mouse, finger or keyboard: point at marks, choose one, zoom, pan, save a picture

const NEAR = 22; // pixels between a mark and a pointer that means it
const ZOOMED = ["rows", "points", "line", "area"];

const hands = {
  get canZoom() { return this.series.every((series) => ZOOMED.includes(series.kind)); },

  addTools() {
    const tool = (word, label, act) => {
      const button = make("button", { type: "button", title: label, "aria-label": `${label}: ${this.host.dataset.label}` }, this.tools, word);
      button.addEventListener("click", act);
    };
    if (this.canZoom) {
      tool("+", "Zoom in", () => this.zoomBy(0.6));
      tool("−", "Zoom out", () => this.zoomBy(1 / 0.6));
      tool("⟲", "Show all", () => this.zoomTo(null));
    }
    tool("⤓", "Save as picture", () => this.save());
  },

  zoomTo(view) { this.view = view; this.draw(); },

  zoomBy(factor) {
    const around = ([low, high]) => {
      const [middle, half] = [(low + high) / 2, (factor * (high - low)) / 2];
      return [middle - half, middle + half];
    };
    this.zoomTo({ x: around(this.ranges.x), y: around(this.ranges.y) });
  },

  panBy(dx, dy) {
    const moved = ([low, high], pixels, length) => {
      const shift = (pixels / length) * (high - low);
      return [low - shift, high - shift];
    };
    const { left, right, top, bottom } = this.box;
    this.zoomTo({ x: moved(this.ranges.x, dx, right - left), y: moved(this.ranges.y, -dy, bottom - top) });
  },

  // the mark that a pointer means
  markAt(x, y) {
    const { left, right, top, bottom } = this.box;
    let [best, least] = [-1, NEAR * NEAR];
    this.marks.forEach((mark, i) => {
      if (mark.area) {
        const [a, b, width, height] = mark.area;
        // thin bars are hard to hit: their whole height counts
        const inside = x >= a - 1 && x <= a + width + 1 && (width < 14 || (y >= b && y <= b + height));
        if (inside && best < 0) { best = i; least = 0; }
        return;
      }
      if (mark.x < left - 1 || mark.x > right + 1 || mark.y < top - 1 || mark.y > bottom + 1) return;
      const apart = (mark.x - x) ** 2 + (mark.y - y) ** 2;
      if (apart < least) { best = i; least = apart; }
    });
    return best;
  },

  place(event) {
    const frame = this.svg.getBoundingClientRect();
    return [event.clientX - frame.left, event.clientY - frame.top];
  },

  // show what a mark says, beside it
  point(index) {
    this.at = index;
    const mark = this.marks[index];
    if (!mark) { tip.hide(); this.dot.style.display = "none"; return; }
    const frame = this.svg.getBoundingClientRect();
    this.dot.style.display = "";
    this.dot.setAttribute("cx", mark.x);
    this.dot.setAttribute("cy", mark.y);
    tip.show(mark.tell(), frame.left + mark.x, frame.top + mark.y);
  },

  choose(index) {
    const mark = this.marks[index];
    if (mark && mark.row !== undefined) chooseRow(mark.row);
  },

  listen() {
    this.stage.addEventListener("pointermove", (event) => this.moved(event));
    this.stage.addEventListener("pointerleave", () => { if (!this.drag) this.point(-1); });
    this.stage.addEventListener("pointerdown", (event) => this.pressed(event));
    this.stage.addEventListener("pointerup", (event) => this.released(event));
    this.stage.addEventListener("pointercancel", () => this.dropped());
    this.stage.addEventListener("dblclick", () => { if (this.canZoom) this.zoomTo(null); });
    this.stage.addEventListener("keydown", (event) => this.keyed(event));
    this.stage.addEventListener("blur", () => this.point(-1));
  },

  pressed(event) {
    if (event.button !== 0 || !this.svg) return;
    this.drag = { from: this.place(event), pan: event.shiftKey };
    if (event.pointerType === "mouse" && this.canZoom) this.stage.setPointerCapture(event.pointerId);
  },

  moved(event) {
    if (!this.svg) return;
    const [x, y] = this.place(event);
    if (!this.drag || event.pointerType !== "mouse" || !this.canZoom) { this.point(this.markAt(x, y)); return; }
    const [a, b] = this.drag.from;
    if (this.drag.pan) { this.panBy(x - a, y - b); this.drag.from = [x, y]; return; }
    if (Math.hypot(x - a, y - b) < 8) return;
    this.point(-1);
    if (!this.drag.band) this.drag.band = make("rect", { class: "band" }, this.over);
    const sides = { x: Math.min(a, x), y: Math.min(b, y), width: Math.abs(x - a), height: Math.abs(y - b) };
    for (const [key, value] of Object.entries(sides)) this.drag.band.setAttribute(key, value);
  },

  released(event) {
    const drag = this.drag;
    this.dropped();
    if (!drag || drag.pan) return;
    const [x, y] = this.place(event);
    if (!drag.band) {
      const index = this.markAt(x, y);
      this.point(index);
      this.choose(index);
      return;
    }
    const { left, right, top, bottom } = this.box;
    const back = ([low, high], start, end, pixel) => low + ((Math.max(Math.min(start, end), Math.min(pixel, Math.max(start, end))) - start) / (end - start)) * (high - low);
    const [a, b] = drag.from;
    const xs = [Math.min(a, x), Math.max(a, x)].map((pixel) => back(this.ranges.x, left, right, pixel));
    const ys = [Math.max(b, y), Math.min(b, y)].map((pixel) => back(this.ranges.y, bottom, top, pixel));
    if (xs[0] !== xs[1] && ys[0] !== ys[1]) this.zoomTo({ x: xs, y: ys });
  },

  dropped() {
    if (this.drag && this.drag.band) this.drag.band.remove();
    this.drag = null;
  },

  // arrow keys go from mark to mark, as the mouse does; Enter chooses
  keyed(event) {
    if (event.key === "Escape") { this.point(-1); return; }
    if (event.key === "Enter" && this.at >= 0) { event.preventDefault(); this.choose(this.at); return; }
    const back = event.key === "ArrowLeft" || event.key === "ArrowUp";
    if ((!back && event.key !== "ArrowRight" && event.key !== "ArrowDown") || this.marks.length === 0) return;
    event.preventDefault();
    this.point((this.at + (back ? -1 : 1) + this.marks.length + (this.at < 0 && back ? 1 : 0)) % this.marks.length);
    this.said.textContent = this.marks[this.at].tell().replaceAll("\n", ", ");
  },

  // the figure as a picture: colours of the page are written into it
  save() {
    const style = getComputedStyle(document.documentElement);
    const copy = this.svg.cloneNode(true);
    const rules = [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules]).filter((rule) => rule.cssText.includes(".stage "));
    make("defs", {}, copy).append(make("style", {}, null, rules.map((rule) => rule.cssText.replaceAll(".stage ", "")).join("\n")));
    const patterns = document.getElementById("patterns");
    if (patterns) copy.append(patterns.cloneNode(true));
    const text = new XMLSerializer().serializeToString(copy).replace(/var\((--[\w-]+)\)/g, (_, name) => style.getPropertyValue(name).trim());
    const { width, height } = this.box;
    const image = new Image();
    image.onload = () => {
      const canvas = make("canvas", { width: 2 * width, height: 2 * height });
      const pen = canvas.getContext("2d");
      pen.fillStyle = style.getPropertyValue("--card");
      pen.fillRect(0, 0, 2 * width, 2 * height);
      pen.drawImage(image, 0, 0, 2 * width, 2 * height);
      canvas.toBlob((blob) => download(blob, `${this.host.id}.png`));
    };
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  },
};
Object.defineProperties(Chart.prototype, Object.getOwnPropertyDescriptors(hands));

function download(blob, name) {
  const link = make("a", { href: URL.createObjectURL(blob), download: name }, document.body);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
