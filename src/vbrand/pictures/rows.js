"use strict";
// the rows as a table: ordered, of one group, one page at a time, to be saved

const PER_PAGE = 20;

class RowTable {
  constructor(report) {
    const byId = (name) => document.getElementById(name);
    Object.assign(this, { report, rows: report.rows, key: "novelty", falling: true, group: -1, page: 0, chosen: -1 });
    this.body = byId("rows-body");
    this.order = byId("rows-order");
    this.filter = byId("rows-group");
    this.count = byId("rows-count");
    this.heads = [...document.querySelectorAll("#rows-table th[data-key]")];
    const held = new Set(this.rows.group);
    report.groups.forEach(({ name }, k) => { if (held.has(k)) make("option", { value: k }, this.filter, clip(name, 60)); });
    this.keys = {
      place: (i) => i,
      name: (i) => this.rows.name[i],
      group: (i) => this.rows.group[i],
      novelty: (i) => this.rows.novelty[i],
      doubt: (i) => Math.abs(this.rows.novelty[i] - report.threshold),
      best: (i) => report.classes[this.known(i)],
      middle: (i) => this.rows.middle[i],
      truth: (i) => this.rows.truth[i],
    };
    this.order.addEventListener("change", () => this.sort(this.order.value, this.order.value === "novelty"));
    this.filter.addEventListener("change", () => { this.group = Number(this.filter.value); this.page = 0; this.show(); });
    byId("rows-back").addEventListener("click", () => this.turn(-1));
    byId("rows-on").addEventListener("click", () => this.turn(1));
    byId("rows-save").addEventListener("click", () => download(new Blob([this.text()], { type: "text/csv" }), "rows.csv"));
    for (const head of this.heads) {
      head.firstElementChild.addEventListener("click", () => {
        const { key } = head.dataset;
        this.sort(key, this.key === key ? !this.falling : key === "novelty");
      });
    }
    this.show();
  }

  // the likeliest known class of a row
  known(i) {
    const novel = this.report.classes.length - 1;
    return this.rows.best[i].find((j) => j !== novel);
  }

  knownChance(i) { return this.rows.chance[i][this.rows.best[i].indexOf(this.known(i))]; }

  sort(key, falling) {
    Object.assign(this, { key, falling, page: 0 });
    this.show();
  }

  turn(by) { this.page += by; this.show(); }

  get listed() {
    const key = this.keys[this.key];
    const sign = this.falling ? -1 : 1;
    const compare = (a, b) => (typeof a === "string" ? a.localeCompare(b, "en", { numeric: true }) : a - b);
    const found = this.rows.name.map((_, i) => i).filter((i) => this.group < 0 || this.rows.group[i] === this.group);
    // scores tell rows apart whose probabilities are the same
    const closer = { novelty: (i) => this.rows.score[i], doubt: (i) => Math.abs(this.rows.score[i]) }[this.key] || ((i) => i);
    return found.sort((a, b) => sign * compare(key(a), key(b)) || sign * (closer(a) - closer(b)) || a - b);
  }

  cells(i) {
    const { rows, report } = this;
    return [
      rows.name[i], report.groups[rows.group[i]].name, rows.novelty[i].toFixed(3),
      `${clip(report.classes[this.known(i)], 40)} (${this.knownChance(i).toFixed(2)})`, `${rows.middle[i].toFixed(1)} sd`,
      ...(rows.truth ? [rows.truth[i]] : []),
    ];
  }

  show() {
    const listed = this.listed;
    const pages = Math.max(1, Math.ceil(listed.length / PER_PAGE));
    this.page = Math.max(0, Math.min(this.page, pages - 1));
    const start = this.page * PER_PAGE;
    this.body.replaceChildren();
    for (const i of listed.slice(start, start + PER_PAGE)) this.showRow(i);
    const end = Math.min(start + PER_PAGE, listed.length);
    this.count.textContent = `${(start + 1).toLocaleString("en-US")} to ${end.toLocaleString("en-US")} of ${listed.length.toLocaleString("en-US")}`;
    document.getElementById("rows-back").disabled = this.page === 0;
    document.getElementById("rows-on").disabled = this.page === pages - 1;
    this.order.value = [...this.order.options].some((option) => option.value === this.key) ? this.key : "";
    for (const head of this.heads) {
      head.setAttribute("aria-sort", head.dataset.key !== this.key ? "none" : this.falling ? "descending" : "ascending");
    }
    scrollHint(this.body.closest(".wide"));
  }

  showRow(i) {
    const group = this.report.groups[this.rows.group[i]];
    const line = make("tr", { class: [group.known ? "" : group.doubtful ? "doubtful" : "novel", i === this.chosen ? "chosen" : ""].join(" ") }, this.body);
    this.cells(i).forEach((text, column) => {
      const cell = make(column === 0 ? "th" : "td", column === 0 ? { scope: "row" } : { class: column === 2 || column === 4 ? "number" : null }, line);
      if (column > 0) { cell.textContent = clip(text, 60); return; }
      const button = make("button", { type: "button", class: "plain", title: "Show it on the map" }, cell, clip(text, 60));
      button.addEventListener("click", () => chooseRow(i));
    });
  }

  // go to the page that a row is on
  choose(row) {
    this.chosen = row;
    if (this.group >= 0 && this.rows.group[row] !== this.group) { this.group = -1; this.filter.value = "-1"; }
    this.page = Math.floor(this.listed.indexOf(row) / PER_PAGE);
    this.show();
  }

  // what is listed, as CSV
  text() {
    const { rows, report } = this;
    const quoted = (value) => (/[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value);
    const head = ["row", "group", "doubtful", "P(novel)", "likeliest known class", "P(class)", "sd from the group's middle", ...(rows.truth ? ["true class"] : [])];
    const lines = this.listed.map((i) => {
      const { bare, doubtful } = report.groups[rows.group[i]];
      return [
        rows.name[i], bare, String(doubtful), String(rows.novelty[i]), report.classes[this.known(i)], String(this.knownChance(i)), rows.middle[i].toFixed(3),
        ...(rows.truth ? [rows.truth[i]] : []),
      ];
    });
    return `${[head, ...lines].map((line) => line.map(quoted).join(",")).join("\n")}\n`;
  }
}
