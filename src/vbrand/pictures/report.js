"use strict";
// the page: light or dark, words with tips, folds, and the figures, the map and the rows tied together

const report = JSON.parse(document.getElementById("report").textContent);
const page = document.documentElement;
const byId = (name) => document.getElementById(name);

function setTheme(dark) {
  page.dataset.theme = dark ? "dark" : "light";
  byId("theme").textContent = dark ? "Light" : "Dark";
  byId("theme").setAttribute("aria-pressed", String(dark));
}

const wish = window.matchMedia("(prefers-color-scheme: dark)");
setTheme(wish.matches);
byId("theme").addEventListener("click", () => setTheme(page.dataset.theme !== "dark"));
wish.addEventListener("change", () => setTheme(wish.matches));

const charts = {};
for (const [name, figure] of Object.entries(report.figures)) {
  charts[name] = name === "map" ? new RowMap(byId(name), figure, report) : new Chart(byId(name), figure);
}
const table = new RowTable(report);
new Naming(report);

// a row that was chosen on the map or in the table is shown in both
function chooseRow(row) {
  charts.map.chosen = row;
  charts.map.draw();
  table.choose(row);
  const said = byId("map-row");
  said.textContent = charts.map.tellRow(row).replaceAll("\n", ", ");
  said.hidden = false;
}

for (const [name, key] of [["map-places", "method"], ["map-colour", "colour"]]) {
  byId(name).addEventListener("change", (event) => charts.map.see({ [key]: event.target.value }));
}
if (!report.figures.map.views.tsne) byId("map-places").querySelector('[value="tsne"]').remove();
byId("map-outside").lastElementChild.addEventListener("click", () => charts.map.see({ all: !charts.map.all }));

// words that a tip explains, by mouse, finger and keyboard
for (const word of document.querySelectorAll(".term")) {
  const show = () => {
    const frame = word.getBoundingClientRect();
    tip.show(word.getAttribute("aria-description"), frame.left, frame.top);
  };
  for (const event of ["pointerenter", "focus", "click"]) word.addEventListener(event, show);
  for (const event of ["pointerleave", "blur"]) word.addEventListener(event, () => tip.hide());
  word.addEventListener("keydown", (event) => { if (event.key === "Escape") tip.hide(); });
}
window.addEventListener("scroll", () => tip.hide(), { passive: true });

for (const button of document.querySelectorAll("button[data-unfolds]")) {
  button.addEventListener("click", () => {
    for (const part of document.querySelectorAll(`.${button.dataset.unfolds}`)) part.hidden = false;
    button.remove();
  });
}

const wides = [...document.querySelectorAll(".wide")];
const hints = new ResizeObserver((all) => { for (const each of all) scrollHint(each.target); });
for (const wide of wides) hints.observe(wide);

// on paper: light, and everything unfolded
let before;
window.addEventListener("beforeprint", () => {
  before = page.dataset.theme;
  setTheme(false);
  for (const fold of document.querySelectorAll("details.figure")) fold.open = true;
});
window.addEventListener("afterprint", () => setTheme(before === "dark"));
requestAnimationFrame(() => { page.dataset.drawn = "true"; });
