"use strict";
// figures as SVG: axes, marks, legend, tips, zoom, a picture to save; what a figure holds is told in figures.py

const TEXT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', sans-serif";
const ruler = document.createElement("canvas").getContext("2d");
const ink = (name) => `var(--${name})`;
const clip = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

function widthOf(text, size = 12, weight = 400) {
  ruler.font = `${weight} ${size}px ${TEXT}`;
  return ruler.measureText(text).width;
}

// cut a text to a width in pixels
function fitted(text, width, size = 12) {
  if (widthOf(text, size) <= width) return text;
  let end = text.length;
  while (end > 1 && widthOf(`${text.slice(0, end)}…`, size) > width) end -= 1;
  return `${text.slice(0, end)}…`;
}

function make(name, attributes = {}, parent = null, text = null) {
  const svg = ["svg", "g", "path", "line", "rect", "text", "title", "defs", "clipPath", "pattern", "circle"].includes(name);
  const made = svg ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined) made.setAttribute(key, value);
  }
  if (text !== null) made.textContent = text;
  if (parent) parent.append(made);
  return made;
}

// one tip for marks and for words
const tip = {
  box: document.getElementById("tip"),
  show(text, x, y) {
    this.box.textContent = text;
    this.box.hidden = false;
    const { width, height } = this.box.getBoundingClientRect();
    const wide = document.documentElement.clientWidth;
    this.box.style.left = `${Math.max(6, Math.min(x + 12, wide - width - 6))}px`;
    this.box.style.top = `${y - height - 10 > 4 ? y - height - 10 : y + 16}px`;
  },
  hide() { this.box.hidden = true; },
};

// outlines of marks about the origin, of about the same area
const corners = (count, radius, turn = 0) => Array.from({ length: count }, (_, i) => {
  const angle = ((i + turn) * 2 * Math.PI) / count - Math.PI / 2;
  return [radius * Math.cos(angle), radius * Math.sin(angle)];
});
const ring = (points) => `M${points.map(([x, y]) => `${x.toFixed(2)},${y.toFixed(2)}`).join("L")}Z`;
const PLUS = [[-1.3, -3.9], [1.3, -3.9], [1.3, -1.3], [3.9, -1.3], [3.9, 1.3], [1.3, 1.3], [1.3, 3.9], [-1.3, 3.9], [-1.3, 1.3], [-3.9, 1.3], [-3.9, -1.3], [-1.3, -1.3]];
const SYMBOLS = {
  circle: "M3.5,0A3.5,3.5 0 1 1 -3.5,0A3.5,3.5 0 1 1 3.5,0Z",
  square: "M-3.1,-3.1H3.1V3.1H-3.1Z",
  diamond: ring(corners(4, 4.4)),
  hexagon: ring(corners(6, 3.9)),
  pentagon: ring(corners(5, 4)),
  "triangle-up": ring(corners(3, 4.8)),
  "triangle-down": ring(corners(3, 4.8, 1.5)),
  star: ring(corners(5, 5).flatMap((corner, i) => [corner, corners(5, 2.2, 0.5)[i]])),
  cross: ring(PLUS),
  x: ring(PLUS.map(([x, y]) => [(x - y) * Math.SQRT1_2, (x + y) * Math.SQRT1_2])),
};
const DASHES = { solid: null, dash: "7 4", dot: "2 3" };

function stepOf(span, count) {
  const raw = span / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(raw));
  return power * [1, 2, 5, 10].find((step) => step * power >= raw * 0.999);
}

const plain = (value) => {
  if (value === null || value === undefined) return "–";
  if (value !== 0 && (Math.abs(value) >= 1e7 || Math.abs(value) < 1e-3)) return value.toExponential(2);
  return Number(value.toPrecision(4)).toLocaleString("en-US", { maximumFractionDigits: 12 });
};

function ticksOf(axis, [low, high], count) {
  if (axis.ticks) return axis.ticks;
  const [from, to] = low < high ? [low, high] : [high, low];
  if (axis.log) {
    const powers = Array.from({ length: 20 }, (_, i) => 10 ** i).filter((value) => value >= from && value <= to);
    return powers.map((value) => [value, value.toLocaleString("en-US")]);
  }
  const step = stepOf(to - from, count);
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  const found = [];
  for (let i = Math.ceil(from / step - 1e-9); i * step <= to + 1e-9 * step; i += 1) {
    const value = i === 0 ? 0 : i * step; // no minus before a zero
    const word = axis.format === "percent" ? `${(100 * value).toFixed(Math.max(0, digits - 2))} %`
      : Math.abs(value) >= 1e7 || digits > 6 ? (value === 0 ? "0" : value.toExponential(1))
        : value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
    found.push([value, word]);
  }
  return found;
}

// range of what is shown, with some room about it
function rangeOf(axis, values) {
  if (axis.range) return axis.range;
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) {
    if (value === null) continue;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  if (low > high) return [0, 1];
  const room = high > low ? 0.04 * (high - low) : Math.abs(high) || 1;
  const start = axis.from === undefined ? low - room : axis.from;
  return [start, high + room * (axis.grow || 1)];
}

function scaleOf(axis, [low, high], start, end) {
  const bent = axis.log ? Math.log10 : (value) => value;
  const [a, b] = [bent(low), bent(high)];
  return (value) => start + ((bent(value) - a) / (b - a)) * (end - start);
}

class Chart {
  constructor(host, figure) {
    Object.assign(this, { host, figure, view: null, off: new Set(), marks: [], at: -1 });
    for (const series of figure.series || []) if (series.off) this.off.add(series.name);
    this.tools = make("div", { class: "tools" }, host);
    this.stage = make("div", { class: "stage" }, host);
    this.said = make("p", { class: "said", "aria-live": "polite" }, host);
    this.legend = make("div", { class: "legend" }, host);
    this.stage.tabIndex = 0;
    this.stage.setAttribute("role", "application");
    this.stage.setAttribute("aria-label", `${host.dataset.label} Arrow keys go from mark to mark.`);
    this.addTools();
    this.listen();
    new ResizeObserver(() => this.resized()).observe(host);
  }

  resized() {
    const width = this.host.clientWidth;
    if (width > 0 && width !== this.drawnWidth) { this.drawnWidth = width; this.draw(); }
  }

  get series() { return this.figure.series; }

  get shown() { return this.series.filter((series) => !this.off.has(series.name)); }

  values(axis) {
    const across = this.figure.across ? axis === "x" : axis === "y";
    return this.shown.flatMap((series) => series[axis] || (series.size && across ? series.size : series.at || []));
  }

  // sizes, scales and an empty plane
  layOut() {
    const { figure } = this;
    const least = figure.x.ticks ? 130 + 30 * figure.x.ticks.length : 0;
    const width = Math.max(this.host.clientWidth - 2, least);
    const height = figure.height || 420;
    this.x = { ...figure.x };
    this.y = { ...figure.y };
    const ranges = this.view || { x: rangeOf(this.x, this.values("x")), y: rangeOf(this.y, this.values("y")) };
    const yTicks = ticksOf(this.y, ranges.y, (height - 90) / 60);
    const most = Math.max(60, 0.36 * width);
    const left = 34 + Math.min(most, Math.max(20, ...yTicks.map(([, word]) => widthOf(word))));
    const right = 14 + (figure.across ? Math.min(0.4 * width, this.wordRoom()) : 0);
    this.turned = this.x.ticks && this.x.ticks.some(([, word]) => widthOf(word) > (width - left - right) / this.x.ticks.length - 8);
    const words = this.turned ? Math.min(130, Math.max(...this.x.ticks.map(([, word]) => widthOf(word)))) : 12;
    const bottom = 34 + words * (this.turned ? 0.85 : 1);
    this.box = { left, right: width - right, top: figure.rules ? 26 : 12, bottom: height - bottom, width, height, most };
    this.ranges = ranges;
    this.px = scaleOf(this.x, ranges.x, this.box.left, this.box.right);
    this.py = scaleOf(this.y, ranges.y, this.box.bottom, this.box.top);
    this.yTicks = yTicks;
  }

  // words beside bars: the short ones on a phone
  wordsOf(series) { return (this.host.clientWidth < 560 && series.short) || series.words || []; }

  wordRoom() { return Math.max(0, ...this.shown.flatMap((series) => this.wordsOf(series).map((word) => widthOf(word) + 8))); }

  draw() {
    if (!this.host.clientWidth) return;
    this.layOut();
    this.marks = [];
    this.stage.replaceChildren();
    const { width, height } = this.box;
    this.svg = make("svg", { width, height, viewBox: `0 0 ${width} ${height}`, "font-family": TEXT, "font-size": 12 }, this.stage);
    this.drawAxes();
    const { left, right, top, bottom } = this.box;
    const name = `clip-${this.host.id}`;
    make("rect", { x: left, y: top, width: right - left, height: bottom - top }, make("clipPath", { id: name }, make("defs", {}, this.svg)));
    this.plane = make("g", { "clip-path": `url(#${name})`, class: "marks" }, this.svg);
    this.over = make("g", { class: "over" }, this.svg);
    for (const series of this.shown) DRAW[series.kind](this, series);
    for (const rule of this.figure.rules || []) this.drawRule(rule);
    this.dot = make("circle", { r: 9, class: "ring", style: "display: none" }, this.over);
    this.drawLegend();
    scrollHint(this.stage);
  }

  drawAxes() {
    const { left, right, top, bottom, width, height, most } = this.box;
    const grid = make("g", { class: "grid" }, this.series.some((series) => series.kind === "cells") ? null : this.svg);
    const words = make("g", { class: "ticks" }, this.svg);
    const xTicks = ticksOf(this.x, this.ranges.x, (right - left) / 80);
    for (const [value, word] of xTicks) {
      const x = this.px(value);
      if (x < left - 1 || x > right + 1) continue;
      make("line", { x1: x, x2: x, y1: top, y2: bottom }, grid);
      const turn = this.turned ? `translate(${x + 4},${bottom + 12}) rotate(-55)` : `translate(${x},${bottom + 16})`;
      make("text", { class: "xtick", transform: turn, "text-anchor": this.turned ? "end" : "middle" }, words, fitted(word, this.turned ? 130 : 400));
    }
    for (const [value, word] of this.yTicks) {
      const y = this.py(value);
      if (y < top - 1 || y > bottom + 1) continue;
      make("line", { x1: left, x2: right, y1: y, y2: y }, grid);
      const text = make("text", { class: "ytick", x: left - 7, y: y + 4, "text-anchor": "end" }, words, fitted(word, most));
      make("title", {}, text, word);
    }
    const title = fitted(this.x.title || "", width - 16, 12.5);
    const half = widthOf(title, 12.5) / 2;
    make("text", { class: "axis", x: Math.min((left + right) / 2, width - 6 - half), y: height - 6, "text-anchor": "middle" }, words, title);
    make("text", { class: "axis", transform: `translate(13,${(top + bottom) / 2}) rotate(-90)`, "text-anchor": "middle" }, words, fitted(this.y.title || "", bottom - top, 12.5));
  }

  drawRule(rule) {
    const x = this.px(rule.x);
    const { left, right, top, bottom } = this.box;
    make("line", { x1: x, x2: x, y1: top, y2: bottom, class: "rule" }, this.over);
    const half = widthOf(rule.word) / 2;
    make("text", { class: "rule-word", x: Math.max(left + half, Math.min(x, right - half)), y: top - 8, "text-anchor": "middle" }, this.over, rule.word);
  }

  // a mark that can be pointed at
  addMark(x, y, tell, extra = {}) { this.marks.push({ x, y, tell, ...extra }); }

  symbolAt(parent, x, y, series, size = 1) {
    const paint = series.hollow ? `fill: none; stroke: ${ink(series.ink)}; stroke-width: 1.3` : `fill: ${ink(series.ink)}; stroke: var(--card); stroke-width: 0.6`;
    return make("path", { d: SYMBOLS[series.symbol], class: series.hollow ? "mark hollow" : "mark", transform: `translate(${x.toFixed(1)},${y.toFixed(1)}) scale(${size})`, style: paint }, parent);
  }

  legendItems() {
    const names = new Map();
    for (const series of this.series) if (!names.has(series.name) || series.kind !== "area") names.set(series.name, series);
    return [...names.values()].sort((a, b) => Boolean(a.off) - Boolean(b.off));
  }

  drawLegend() {
    const items = this.legendItems();
    this.legend.replaceChildren();
    if (items.length < 2) return;
    const folded = items.length > 11 && !this.unfolded;
    for (const series of folded ? items.slice(0, 10) : items) {
      const button = make("button", { type: "button", "aria-pressed": String(!this.off.has(series.name)) }, this.legend);
      swatch(button, series);
      button.append(series.name);
      button.addEventListener("click", () => {
        if (!this.off.delete(series.name)) this.off.add(series.name);
        const place = items.indexOf(series);
        this.draw();
        this.legend.children[place].focus();
      });
    }
    if (!folded) return;
    const more = make("button", { type: "button", class: "more" }, this.legend, `${items.length - 10} more`);
    more.addEventListener("click", () => { this.unfolded = true; this.drawLegend(); this.legend.children[10].focus(); });
  }
}

// a wide table or figure says that it can be scrolled
function scrollHint(box) { box.classList.toggle("scrolls", box.scrollWidth > box.clientWidth + 1); }

// a small picture of a series, beside its name
function swatch(parent, series) {
  const svg = make("svg", { width: 24, height: 14, viewBox: "-12 -7 24 14", "aria-hidden": "true" }, parent);
  const line = `stroke: ${ink(series.ink)}; stroke-width: 2; fill: none`;
  if (series.kind === "line" || series.kind === "steps") make("path", { d: "M-11,0H11", style: line, "stroke-dasharray": DASHES[series.dash] }, svg);
  if (series.kind === "bars") make("rect", { x: -6, y: -6, width: 12, height: 12, style: `fill: ${ink(series.ink)}` }, svg);
  if (series.symbol) {
    const paint = series.hollow ? `fill: none; stroke: ${ink(series.ink)}; stroke-width: 1.3` : `fill: ${ink(series.ink)}`;
    make("path", { d: SYMBOLS[series.symbol], transform: "scale(1.25)", style: paint }, svg);
  }
}

const told = (chart, series, i) => (series.tips ? series.tips[i] : `${series.name}\n${chart.figure.names[i]}: ${plain(series.values[i])}`);

const DRAW = {
  points(chart, series) {
    series.x.forEach((value, i) => {
      const [x, y] = [chart.px(value), chart.py(series.y[i])];
      chart.symbolAt(chart.plane, x, y, series, 1.3);
      chart.addMark(x, y, () => told(chart, series, i));
    });
  },

  line(chart, series) {
    let path = "";
    let pen = "M";
    series.x.forEach((value, i) => {
      if (value === null || series.y[i] === null) { pen = "M"; return; }
      const [x, y] = [chart.px(value), chart.py(series.y[i])];
      path += `${pen}${x.toFixed(1)},${y.toFixed(1)}`;
      pen = "L";
      chart.addMark(x, y, () => told(chart, series, i));
    });
    make("path", { d: path, class: "line", style: `fill: none; stroke: ${ink(series.ink)}; stroke-width: 2`, "stroke-dasharray": DASHES[series.dash] }, chart.plane);
    if (!series.symbol) return;
    series.x.forEach((value, i) => {
      if (value !== null && series.y[i] !== null) chart.symbolAt(chart.plane, chart.px(value), chart.py(series.y[i]), series);
    });
  },

  area(chart, series) {
    const points = series.x.map((value, i) => [value, series.y[i]]).filter(([x, y]) => x !== null && y !== null);
    const path = points.length ? ring(points.map(([x, y]) => [chart.px(x), chart.py(y)])) : "";
    make("path", { d: path, class: "area", style: `fill: ${ink(series.ink)}; fill-opacity: 0.16` }, chart.plane);
  },

  // bars of several series that meet in one place share its width
  bars(chart, series) {
    const across = chart.figure.across;
    const rivals = chart.shown.filter((other) => other.kind === "bars");
    series.at.forEach((at, i) => {
      const here = rivals.filter((other) => other.at.includes(at));
      const part = series.width / here.length;
      const start = at - series.width / 2 + part * here.indexOf(series);
      const size = series.size[i];
      const zero = chart[across ? "x" : "y"].log ? chart.ranges[across ? "x" : "y"][0] : 0;
      const [a, b] = across ? [chart.py(start), chart.py(start + part)] : [chart.px(start), chart.px(start + part)];
      const [c, d] = across ? [chart.px(zero), chart.px(size)] : [chart.py(zero), chart.py(size)];
      const [thin, long] = [Math.abs(b - a), Math.abs(d - c)];
      const [lowThin, lowLong] = [Math.min(a, b), Math.min(c, d)];
      const gap = Math.min(1, thin / 8);
      const [x, y, width, height] = across ? [lowLong, lowThin, long, thin] : [lowThin + gap / 2, lowLong, thin - gap, long];
      make("rect", { x, y, width, height, class: "bar", style: `fill: ${ink(series.ink)}` }, chart.plane);
      if (series.hatch) make("rect", { x, y, width, height, class: `hatch ${series.hatch}`, style: `fill: url(#hatch-${series.hatch})` }, chart.plane);
      if (series.words) make("text", { x: d + 6, y: (a + b) / 2 + 4, class: "bar-word" }, chart.over, fitted(chart.wordsOf(series)[i], chart.box.width - d - 8));
      chart.addMark(across ? d : (a + b) / 2, across ? (a + b) / 2 : d, () => told(chart, series, i), { area: [x, y, width, height] });
    });
  },

  steps(chart, series) {
    const base = chart.py(chart.ranges.y[0]);
    let path = "";
    series.at.forEach((at, i) => {
      const [a, b, y] = [chart.px(at - series.width / 2), chart.px(at + series.width / 2), chart.py(series.size[i])];
      const joined = i > 0 && at - series.at[i - 1] < 1.5 * series.width;
      const leaves = i + 1 === series.at.length || series.at[i + 1] - at > 1.5 * series.width;
      path += `${joined ? "L" : `M${a},${base}L`}${a},${y}H${b}${leaves ? `V${base}` : ""}`;
      chart.addMark((a + b) / 2, y, () => told(chart, series, i));
    });
    make("path", { d: path, class: "line", style: `fill: none; stroke: ${ink(series.ink)}; stroke-width: 2` }, chart.plane);
  },

  cells(chart, series) {
    series.share.forEach((row, i) => row.forEach((share, j) => {
      const [x, y] = [chart.px(j - 0.5), chart.py(i - 0.5)];
      const [width, height] = [chart.px(j + 0.5) - x, chart.py(i + 0.5) - y];
      make("rect", { x: x + 0.5, y: y + 0.5, width: width - 1, height: height - 1, class: "cell", style: `fill: ${ink(series.ink)}; fill-opacity: ${0.46 * share}` }, chart.plane);
      const word = series.words[i][j];
      if (word && widthOf(word) < width) make("text", { x: x + width / 2, y: y + height / 2 + 4, "text-anchor": "middle", class: "cell-word" }, chart.plane, word);
      chart.addMark(x + width / 2, y + height / 2, () => series.tips[i][j], { area: [x, y, width, height] });
    }));
  },
};
