"use strict";
(() => {
  const figures = JSON.parse(document.getElementById("figures").textContent);
  const page = document.documentElement;
  const button = document.getElementById("theme");
  const wish = window.matchMedia("(prefers-color-scheme: dark)");
  const config = { responsive: true, displaylogo: false, modeBarButtons: [["toImage", "zoom2d", "pan2d", "zoomIn2d", "zoomOut2d", "resetScale2d"]] };
  const margin = { l: 70, r: 20, t: 36, b: 60 };

  const colour = (name) => getComputedStyle(page).getPropertyValue(name).trim();

  // the colours of the page, as a change of layout
  function themed(figure) {
    const [ink, rule] = [colour("--ink"), colour("--rule")];
    const change = { paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", "font.color": ink };
    Object.assign(change, { "modebar.bgcolor": "rgba(0,0,0,0)", "modebar.color": colour("--soft"), "modebar.activecolor": ink });
    for (const axis of ["xaxis", "yaxis"]) {
      change[`${axis}.gridcolor`] = rule;
      change[`${axis}.linecolor`] = rule;
      change[`${axis}.zerolinecolor`] = rule;
    }
    (figure.layout.shapes || []).forEach((_, i) => { change[`shapes[${i}].line.color`] = ink; });
    return change;
  }

  function repaint() {
    for (const [name, figure] of Object.entries(figures)) Plotly.relayout(name, themed(figure));
    labelMap();
  }

  function setTheme(dark) {
    page.dataset.theme = dark ? "dark" : "light";
    button.textContent = dark ? "Light" : "Dark";
    button.setAttribute("aria-pressed", String(dark));
  }

  const map = figures.map;
  const places = document.getElementById("map-places");
  const colours = document.getElementById("map-colour");

  // names of the groups, where they lie
  function labelMap() {
    const [ink, paper] = [colour("--ink"), colour("--paper")];
    const labels = map.labels[places.value].map((label) =>
      ({ ...label, font: { size: 13, color: ink }, bgcolor: paper, opacity: 0.75, borderpad: 2 }));
    return Plotly.relayout("map", { annotations: labels });
  }

  function placeMap() {
    const method = places.value;
    Plotly.restyle("map", {
      x: map.views.map((view) => view.places[method][0]),
      y: map.views.map((view) => view.places[method][1]),
    });
    Plotly.relayout("map", {
      "xaxis.title.text": map.titles[method][0],
      "yaxis.title.text": map.titles[method][1],
      "xaxis.autorange": true,
      "yaxis.autorange": true,
    });
    return labelMap();
  }

  function colourMap() {
    const kind = colours.value;
    return Plotly.restyle("map", {
      "marker.color": map.views.map((view) => view.colours[kind]),
      "marker.coloraxis": kind === "novelty" ? "coloraxis" : null,
    });
  }

  // arrow keys go from row to row, as the mouse does
  let at = [0, -1];
  function step(event) {
    const back = event.key === "ArrowLeft" || event.key === "ArrowUp";
    if (!back && event.key !== "ArrowRight" && event.key !== "ArrowDown") return;
    event.preventDefault();
    let [curve, point] = at;
    point += back ? -1 : 1;
    if (point >= map.data[curve].text.length) { curve = (curve + 1) % map.data.length; point = 0; }
    if (point < 0) { curve = (curve + map.data.length - 1) % map.data.length; point = map.data[curve].text.length - 1; }
    at = [curve, point];
    Plotly.Fx.hover("map", [{ curveNumber: curve, pointNumber: point }]);
    const said = new DOMParser().parseFromString(map.data[curve].text[point].replaceAll("<br>", ", "), "text/html");
    document.getElementById("map-row").textContent = said.body.textContent;
  }

  setTheme(wish.matches);
  const drawn = Object.entries(figures).map(([name, figure]) => {
    if (figure.height) document.getElementById(name).style.height = `${figure.height}px`;
    return Plotly.newPlot(name, figure.data, { margin, hovermode: "closest", ...figure.layout }, config);
  });
  if (!map.labels.tsne) places.querySelector('[value="tsne"]').remove();
  Promise.all(drawn).then(placeMap).then(() => {
    repaint();
    places.addEventListener("change", placeMap);
    colours.addEventListener("change", colourMap);
    document.getElementById("map").addEventListener("keydown", step);
    button.addEventListener("click", () => { setTheme(page.dataset.theme !== "dark"); repaint(); });
    wish.addEventListener("change", () => { setTheme(wish.matches); repaint(); });
    let before;
    window.addEventListener("beforeprint", () => { before = page.dataset.theme; setTheme(false); repaint(); });
    window.addEventListener("afterprint", () => { setTheme(before === "dark"); repaint(); });
    page.dataset.drawn = "true";
  });
})();
