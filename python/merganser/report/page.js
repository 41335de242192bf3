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

function fitted(spec) {
  // On a dark page the darkest colour is lighter, and that which it would then look like is paler. On narrow screens legends stand in
  // one column and names of bars are shorter.
  const whole = JSON.stringify(spec);
  const text = dark.matches ? whole.replaceAll('"#56b4e9"', '"#c4e8fb"').replaceAll('"#0072b2"', '"#4aa3df"') : whole;
  if (window.innerWidth >= 600) return JSON.parse(text);
  return JSON.parse(text.replace(/"columns":2/g, '"columns":1').replace(/"labelLimit":320/g, '"labelLimit":110'));
}

async function draw() {
  for (const view of views) view.finalize();
  views = [];
  document.body.dataset.drawn = "no";
  const config = theme(dark.matches);
  for (let i = 0; i < specs.length; ++i) {
    const result = await vegaEmbed(`#chart-${i}`, fitted(specs[i]), {
      ast: true, renderer: "svg", config, tooltip: { theme: dark.matches ? "dark" : "light" },
      actions: { export: { svg: true, png: true }, source: false, compiled: false, editor: false },
      downloadFileName: `merganser-${i}`,
    });
    views.push(result);
    await new Promise((resume) => setTimeout(resume, 0));  // the page stays usable while charts are drawn
    const menu = document.querySelector(`#chart-${i} summary`);
    if (menu) menu.setAttribute("aria-label", `Save the chart ${specs[i].description.split(".")[0]}`);
  }
  document.body.dataset.drawn = "yes";
}

dark.addEventListener("change", draw);
window.addEventListener("beforeprint", () => { for (const one of document.querySelectorAll("figure > details")) one.open = true; });
draw();
