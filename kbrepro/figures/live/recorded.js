// Recorded scenes: marks that kbrepro kept, drawn frame by frame; and the start of every scene of the page.
"use strict";
// A mark is a name from here and its arguments; `x` is the panel's own list of inputs.
const marks = {
  area: (X, Y, x, ...its) => Charts.area(X, Y, x, ...its),
  line: (X, Y, x, xs, ...its) => Charts.line(X, Y, xs ?? x, ...its),
  dots: (X, Y, x, its, r) => its.map(([a, b]) => Charts.dot(X(a), Y(b), r, Charts.INK)).join(""),
  text: (X, Y, x, a, b, its, colour) => Charts.text(X(a), Y(b) + 7, its, `font-size="20" fill="${colour}"`),
  // Rectangles [left, low, right, high, opacity], all divided by `parts` but the opacity, which is in per cent.
  boxes: (X, Y, x, its, fill, stroke = "none", parts = 1) => its.map(([left, low, right, high, opacity]) =>
    `<path d="M${X(left / parts)} ${Y(low / parts)}V${Y(high / parts)}H${X(right / parts)}V${Y(low / parts)}Z" fill="${fill}" fill-opacity="${opacity}%" stroke="${stroke}"/>`).join(""),
};
const recorded = (root, { panels, frames, open, key, note }) => {
  const render = () => {
    const frame = frames[time.at], drawn = (i, X, Y) => [...panels[i].under, ...frame.marks[i], ...panels[i].over]
      .map(([name, ...its]) => marks[name](X, Y, panels[i].inputs, ...its)).join("");
    hosts.forEach((host, i) => Charts.chart(host, panels[i], (X, Y) => drawn(i, X, Y)));
    says.textContent = frame.says;
  };
  const time = Charts.clock(root, frames.length, open, (at) => frames[at].label, render);
  const row = Charts.make("div", root, { className: "row" });
  const hosts = panels.map(() => Charts.make("div", row, { className: "chart" }));
  Charts.key(root, key, note);
  const says = Charts.make("p", root);
  return render;
};

// Every scene of the page that has not been started yet; a still picture stands in `noscript`.
for (const root of document.querySelectorAll(".live:not([data-on])")) {
  const { scene, looks } = JSON.parse(root.querySelector("script").textContent);
  const render = scene.frames ? recorded(root, scene) : live(root, scene, looks);
  let width = 0;
  root.dataset.on = "";
  new ResizeObserver(() => { if (root.clientWidth !== width) { width = root.clientWidth; render(); } }).observe(root);
}
