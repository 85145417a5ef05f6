"use strict";
// the map: rows, labelled rows as hollow marks, and names that never cover each other

class RowMap extends Chart {
  constructor(host, figure, report) {
    super(host, { ...figure, ...RowMap.seen(figure, report, "pca", false) });
    Object.assign(this, { report, method: "pca", colour: "group", all: false, chosen: -1 });
  }

  // the figure of one view: rows of each group, then labelled rows of each class
  static seen(figure, report, method, all) {
    const view = figure.views[method];
    const series = [];
    const add = (k, members, [xs, ys], more) => {
      if (members.length) series.push({ kind: "rows", group: k, members, x: members.map((i) => xs[i]), y: members.map((i) => ys[i]), ...more });
    };
    const split = (of) => {
      const parts = report.groups.map(() => []);
      of.forEach((k, i) => parts[k].push(i));
      return parts;
    };
    const labelled = split(figure.labelled);
    report.groups.forEach(({ name, ink, symbol }, k) => add(k, labelled[k], view.labelled, { name: `${clip(name, 24)}, labelled`, ink, symbol, hollow: true }));
    const rows = split(report.rows.group);
    report.groups.forEach(({ name, ink, symbol, rows: count }, k) => add(k, rows[k], view.rows, { name: `${clip(name, 34)} (${count.toLocaleString("en-US")})`, ink, symbol }));
    const [x, y] = [0, 1].map((side) => ({ title: view.titles[side], ...(all ? {} : { range: roomy(view.range[side]) }) }));
    return { series, x, y };
  }

  see({ method = this.method, colour = this.colour, all = this.all }) {
    Object.assign(this, { method, colour, all, view: null });
    Object.assign(this.figure, RowMap.seen(this.figure, this.report, method, all));
    this.draw();
  }

  // novel groups first, labelled rows last
  legendItems() {
    const rank = (series) => 2 * Boolean(series.hollow) + this.report.groups[series.group].known;
    return [...this.series].sort((a, b) => rank(a) - rank(b));
  }

  inkOf(series, row) {
    const group = this.report.groups[series.group];
    if (this.colour === "class") return group.known || group.doubtful ? ink(series.ink) : ink("warm-0");
    if (this.colour === "novelty" && !series.hollow) return shade(this.report.scale, this.report.rows.novelty[row]);
    return ink(this.colour === "novelty" ? "soft" : series.ink);
  }

  draw() {
    if (!this.host.clientWidth || !this.report) return;
    super.draw();
    this.drawNames();
    this.drawChosen();
    this.countOutside();
    document.getElementById("map-scale").hidden = this.colour !== "novelty";
  }

  tellRow(row) {
    const { rows, groups, classes } = this.report;
    const lines = [`${rows.name[row]}: ${groups[rows.group[row]].name}`];
    if (rows.truth) lines.push(`true class ${rows.truth[row]}`);
    rows.best[row].forEach((j, i) => lines.push(`P(${clip(classes[j], 24)}) ${rows.chance[row][i].toFixed(3)}`));
    return lines.map((line) => clip(line, 70)).join("\n");
  }

  // names near the middles of their groups; a name that has no room is left to the legend
  drawNames() {
    const { left, right, top, bottom } = this.box;
    const taken = [];
    const layer = make("g", { class: "names" }, this.over);
    const shownGroups = new Set(this.shown.filter((series) => !series.hollow).map((series) => series.group));
    for (const [k, a, b] of this.figure.views[this.method].middles) {
      const [x, y] = [this.px(a), this.py(b)];
      if (!shownGroups.has(k) || x < left || x > right || y < top || y > bottom) continue;
      const word = clip(this.report.groups[k].name, 24);
      const width = widthOf(word, 13, 600) + 10;
      const spot = spots(x, y, width).find(([u, v]) => u - width / 2 > left && u + width / 2 < right && v - 9 > top && v + 9 < bottom
        && taken.every(([p, q, w]) => Math.abs(u - p) > (width + w) / 2 || Math.abs(v - q) > 19));
      if (!spot) continue;
      const [u, v] = spot;
      taken.push([u, v, width]);
      if (Math.hypot(u - x, v - y) > 30) make("line", { x1: x, y1: y, x2: u, y2: v < y ? v + 8 : v - 8, class: "leader" }, layer);
      make("text", { x: u, y: v + 4.5, "text-anchor": "middle", class: "name" }, layer, word);
    }
  }

  drawChosen() {
    const mark = this.marks.find((each) => each.row === this.chosen);
    if (mark) make("circle", { cx: mark.x, cy: mark.y, r: 10, class: "chosen" }, this.over);
  }

  countOutside() {
    const { left, right, top, bottom } = this.box;
    const out = this.marks.filter(({ x, y, row }) => row !== undefined && (x < left || x > right || y < top || y > bottom)).length;
    const note = document.getElementById("map-outside");
    note.hidden = out === 0 && !this.all;
    note.firstElementChild.textContent = out ? `${out.toLocaleString("en-US")} ${out === 1 ? "row" : "rows"} outside. ` : "";
    note.lastElementChild.textContent = this.all ? "Show most rows, larger" : "Show all rows";
  }
}

DRAW.rows = (chart, series) => {
  const few = chart.report.rows.name.length < 300;
  series.members.forEach((row, i) => {
    const [x, y] = [chart.px(series.x[i]), chart.py(series.y[i])];
    const made = chart.symbolAt(chart.plane, x, y, series, few ? 1.3 : 1);
    made.style[series.hollow ? "stroke" : "fill"] = chart.inkOf(series, row);
    if (series.hollow) chart.addMark(x, y, () => `a labelled row of ${clip(chart.report.groups[series.group].name, 50)}`);
    else chart.addMark(x, y, () => chart.tellRow(row), { row });
  });
};

const roomy = ([low, high]) => {
  const room = high > low ? 0.04 * (high - low) : 1;
  return [low - room, high + room];
};

// places for a name, the nearest to its middle first
function spots(x, y, width) {
  const found = [[x, y - 16], [x, y + 16], [x + width / 2 + 12, y], [x - width / 2 - 12, y]];
  for (let away = 26; away <= 110; away += 14) {
    for (let turn = 0; turn < 16; turn += 1) {
      const angle = (turn * Math.PI) / 8 - Math.PI / 2;
      found.push([x + (away + width / 3) * Math.cos(angle), y + away * Math.sin(angle)]);
    }
  }
  return found;
}

// a colour between those of a scale from 0 to 1
function shade(scale, value) {
  const place = Math.max(0, Math.min(1, value)) * (scale.length - 1);
  const i = Math.min(scale.length - 2, Math.floor(place));
  const part = (colour, at) => parseInt(colour.slice(at, at + 2), 16);
  const mixed = [1, 3, 5].map((at) => Math.round(part(scale[i], at) + (place - i) * (part(scale[i + 1], at) - part(scale[i], at))));
  return `rgb(${mixed.join(",")})`;
}
