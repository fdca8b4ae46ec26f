// Recorded scenes: numbers that kbrepro kept, drawn frame by frame; and the start of every scene of the page.
"use strict";
const recorded = (() => {
  const { INK, GREY, line, area, dot, rect, text, shown, chart, make, clock, key } = Charts;
  const panels = (root, names) => {
    const row = make("div", root, { className: "row" });
    return names.map(() => make("div", make("div", row, { className: "panel" }), { className: "chart" }));
  };
  const pulls = (n) => `${n} pull${n === 1 ? "" : "s"}`;
  // Frames under a clock: `draw` (frame) draws one and returns the sentence below it.
  const framed = (root, its, label, draw) => {
    const render = () => { says.textContent = draw(its.frames[time.at]); };
    const time = clock(root, its.frames.length, its.open, (at) => label(its.frames[at]), () => render());
    const says = make("p", root);
    return { render, says };
  };

  // Cells: left f in grey under the cells, right the pulls inside each; both have the best arm.
  const cells = (root, its, looks) => {
    const n = its.side, half = 0.5 / (n - 1), [colour] = looks[its.hero];
    const most = Math.max(...its.frames.flatMap((f) => f.cells.map((c) => c[3])));
    const ground = (X, Y) => its.f.map((v, j) => {
      const size = X(2 * half) - X(0) + 0.5, x = X(Math.floor(j / n) / (n - 1)), y = Y((j % n) / (n - 1)), grey = 140 + Math.round(v * 1.15);
      return rect(x - size / 2, y - size / 2, size, size, `fill="rgb(${grey},${grey},${grey})"`);
    }).join("");
    const draw = (frame) => {
      const frames = { square: true, x: [-half, 1 + half], y: [-half, 1 + half], xlabel: "arm, first coordinate", ylabel: "arm, second coordinate" };
      const titles = ["f, unknown: light is high", "pulls inside a cell: dark is many"];
      charts.forEach((host, i) => chart(host, { ...frames, title: titles[i] }, (X, Y) => {
        const squares = frame.cells.map(([x, y, parts, pulls]) => {
          const looks = `fill="${colour}" fill-opacity="${i ? 0.85 * pulls / most : 0}" stroke="${colour}" stroke-width="${i ? 0.7 : 1.1}"`;
          return rect(X(x / parts), Y((y + 1) / parts), X(1 / parts) - X(0), Y(0) - Y(1 / parts), looks);
        });
        const cross = `<path d="M${X(its.best[0]) - 7} ${Y(its.best[1])}h14m-7 -7v14" stroke="#c04800" stroke-width="3"/>`;
        return (i ? "" : ground(X, Y)) + squares.join("") + cross;
      }));
      const largest = (part) => Math.max(...frame.cells.map((cell) => cell[part]));
      const best = frame.cells.find(([x, y, parts]) => [x, y].every((v, k) => v <= its.best[k] * parts && its.best[k] * parts <= v + 1));
      return `${frame.cells.length} cells, the smallest of side 1/${largest(2)}, that with the best arm (cross) of side 1/${best[2]}; `
        + `the largest number of pulls in one is ${largest(3)}.`;
    };
    const { render, says } = framed(root, its, (f) => `round ${f.t}`, draw), charts = panels(root, [0, 1]);
    root.append(says);
    return render;
  };

  // Bands: a panel a posterior, with the exact band in black behind it, and the members of its dictionary below.
  const bands = (root, its, looks) => {
    const ends = (view, s) => view.mean.map((m, j) => m + s * its.band * view.sd[j]), names = Object.keys(its.shown);
    const draw = (frame) => {
      charts.forEach((host, i) => {
        const view = frame.views[names[i]], exact = frame.views.exact, [colour] = looks[names[i]];
        const [low, high] = [-4.8, 4.5];
        chart(host, { height: 300, x: [0, 1], y: [low, high], xlabel: "x", ylabel: "reward", title: its.shown[names[i]] }, (X, Y) =>
          rect(X(0), Y(high), X(its.upto) - X(0), Y(low) - Y(high), 'fill="#f1f1f1"')
          + area(X, Y, its.x, ends(view, -1), ends(view, 1), colour, 0.3)
          + [-1, 1].map((s) => line(X, Y, its.x, ends(exact, s), INK, "", 1)).join("") + line(X, Y, its.x, its.f, INK, "5 4")
          + its.observed.slice(0, frame.t).map(([x, y]) => dot(X(x), Y(y), 2, INK)).join("")
          + frame.members.map((x) => `<path d="M${X(x)} ${Y(-4.65)}v-12" stroke="${colour}" stroke-width="1.5"/>`).join(""));
      });
      const unseen = its.x.map((_, j) => j).filter((j) => its.x[j] > its.upto);
      const held = (view) => unseen.filter((j) => Math.abs(its.f[j] - view.mean[j]) <= its.band * view.sd[j]).length / unseen.length;
      const shares = names.map((n) => `${shown(100 * held(frame.views[n]), 0)} % of the points for ${n}`);
      return `Where nothing was observed, the band holds f at ${shares.join(" and ")}. `
        + `Dictionary: ${frame.members.length} arms, the same for both.`;
    };
    const { render, says } = framed(root, its, (f) => pulls(f.t), draw), charts = panels(root, names);
    key(root, [...names.map((n) => [looks[n][0], `${n} ± ${its.band} sd`]), [INK, `exact ± ${its.band} sd: BKB's band ends on it`], [INK, "f, unknown", "5 4"]]);
    root.append(says);
    return render;
  };

  // Intervals: what a layer may be given (bar below) and may return (bar at the left), with and without envelope.
  const intervals = (root, its, looks) => {
    const [[colour], plain] = [looks[its.hero], GREY], kinds = [["without", plain, 12], ["with", colour, 4]];
    const draw = (frame) => {
      charts.forEach((host, i) => {
        const layer = frame.layers[i], { x, y } = its.axes[i], inputs = frame.intervals[i], outputs = frame.intervals[i + 1];
        const title = `layer ${i + 2}`, ylabel = `output of ${title}${i === its.axes.length - 1 ? ": the reward" : ""}`;
        chart(host, { height: 320, x, y, xlabel: `input of ${title}`, ylabel, title }, (X, Y) =>
          area(X, Y, its.z, layer.raw[0], layer.raw[1], plain, 0.25)
          + layer.tight.map((v) => line(X, Y, its.z, v, colour, "", 1.2)).join("")
          + line(X, Y, its.truth[i].z, its.truth[i].y, INK, "5 4") + its.seen[i].slice(0, frame.t).map(([z, v]) => dot(X(z), Y(v), 3.2, INK)).join("")
          + kinds.map(([kind, c, off]) => rect(X(inputs[kind][0]), Y(y[0]) - off - 6, X(inputs[kind][1]) - X(inputs[kind][0]), 7, `fill="${c}"`)
            + rect(X(x[0]) + off, Y(outputs[kind][1]), 7, Y(outputs[kind][0]) - Y(outputs[kind][1]), `fill="${c}"`)).join("")
          + text(X(its.arm[i]), Y(its.arm[i + 1]) + 7, "★", 'text-anchor="middle" font-size="20"'));
      });
      const last = frame.intervals[frame.intervals.length - 1], wide = (kind) => shown(last[kind][1] - last[kind][0]);
      return `After ${pulls(frame.t)} this arm's reward lies in an interval ${wide("with")} wide with the envelope, `
        + `${wide("without")} wide without. The star is the truth.`;
    };
    const { render, says } = framed(root, its, (f) => pulls(f.t), draw), charts = panels(root, its.axes);
    key(root, [[plain, "without envelope: mean ± B sd"], [colour, "with envelope"], [INK, "the layer, unknown", "5 4"]],
      "Bars in these colours: what may go in (below) and come out (left).");
    root.append(says);
    return render;
  };
  return { cells, bands, intervals };
})();

// Every scene of the page that has not been started yet; a still picture stands in `noscript`.
for (const root of document.querySelectorAll(".live:not([data-on])")) {
  const { scene, looks } = JSON.parse(root.querySelector("script").textContent);
  const render = { live, ...recorded }[scene.kind](root, scene, looks);
  let width = 0;
  root.dataset.on = scene.kind;
  new ResizeObserver(() => { if (root.clientWidth !== width) { width = root.clientWidth; render(); } }).observe(root);
}
