"use strict";
// Draws the charts of the page. Expressions are interpreted (ast), because the policy of the page forbids to compile them.
const specs = JSON.parse(document.getElementById("charts").textContent);
const dark = window.matchMedia("(prefers-color-scheme: dark)");
let views = [];

function theme(isDark) {
  const ink = isDark ? "#e4e7eb" : "#1f2933", line = isDark ? "#4a5460" : "#c3cad2";
  return {
    background: null, font: "system-ui, sans-serif",
    view: { stroke: line }, title: { color: ink },
    axis: { labelColor: ink, titleColor: ink, gridColor: line, domainColor: line, tickColor: line, gridOpacity: 0.5,
            labelFontSize: 11, titleFontSize: 12, titleFontWeight: 500 },
    legend: { labelColor: ink, titleColor: ink, labelFontSize: 11, titleFontSize: 12, titleFontWeight: 500 },
    point: { stroke: null }, bar: { cornerRadiusEnd: 2 },
  };
}

// Returns settings of an axis on narrow screens: names that are longer than a line stand in two, broken at a blank if there is one.
function narrowNames() {
  const line = 21, first = `slice(datum.label, 0, ${line})`;
  const end = `(lastindexof(${first}, ' ') > 0 ? lastindexof(${first}, ' ') : ${line - 1})`;
  const label = `length(datum.label) < ${line} ? datum.label : [slice(datum.label, 0, ${end}), trim(slice(datum.label, ${end}))]`;
  return JSON.stringify({ labelLimit: 115, labelFontSize: 9, labelLineHeight: 10, labelExpr: label }).slice(1, -1);
}

function fitted(spec) {
  // On a dark page the darkest colour is lighter, and that which it would then look like is paler. On narrow screens legends stand in
  // one column, bars of colours are shorter and names of bars stand in two lines.
  const whole = JSON.stringify(spec);
  const text = dark.matches ? whole.replaceAll('"#56b4e9"', '"#c4e8fb"').replaceAll('"#0072b2"', '"#4aa3df"') : whole;
  if (window.innerWidth >= 600) return JSON.parse(text);
  return JSON.parse(text.replace(/"columns":([24])/g, (_, columns) => `"columns":${columns / 2}`).replace(/"gradientLength":180/g, '"gradientLength":130')
    .replace(/"labelLimit":320/g, narrowNames));
}

// Returns how many pixels a chart is away from what the window shows; 0: it is seen.
function distance(i) {
  const place = document.getElementById(`chart-${i}`).getBoundingClientRect();
  return Math.max(0, place.top - window.innerHeight, -place.bottom);
}

let latest = 0;  // number of the latest drawing, for which those before it end
let ended = Promise.resolve();

// Draws first what is seen, then the chart that is nearest to it. data-seen of the body says that what is seen has been drawn,
// data-drawn that all has been.
async function draw(number) {
  for (const view of views) view.finalize();
  views = [];
  document.body.dataset.seen = document.body.dataset.drawn = "no";
  const config = theme(dark.matches);
  const waiting = new Set(specs.keys());
  while (waiting.size > 0) {
    const [away, i] = [...waiting].map((k) => [distance(k), k]).reduce((best, next) => (next[0] < best[0] ? next : best));
    if (away > 0) document.body.dataset.seen = "yes";
    waiting.delete(i);
    const result = await vegaEmbed(`#chart-${i}`, fitted(specs[i]), {
      ast: true, renderer: "svg", config, tooltip: { theme: dark.matches ? "dark" : "light" },
      actions: { export: { svg: true, png: true }, source: false, compiled: false, editor: false },
      downloadFileName: `merganser-${i}`,
    });
    views.push(result);
    const menu = document.querySelector(`#chart-${i} summary`);
    if (menu) menu.setAttribute("aria-label", `Save the chart ${specs[i].description.split(".")[0]}`);
    await new Promise((resume) => setTimeout(resume, 0));  // the page stays usable while charts are drawn
    if (number !== latest) return;
  }
  document.body.dataset.seen = document.body.dataset.drawn = "yes";
}

function redraw() {
  const number = ++latest;
  ended = ended.then(() => draw(number));
}

dark.addEventListener("change", redraw);
window.addEventListener("beforeprint", () => { for (const one of document.querySelectorAll("figure > details")) one.open = true; });
redraw();
