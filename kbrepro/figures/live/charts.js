// What every scene draws with: charts as strings of SVG in pixels of the page, controls, a clock. No dependencies.
"use strict";
const Charts = (() => {
  const INK = "#222";
  const path = (X, Y, xs, ys) => Array.from(xs, (x, i) => `${i ? "L" : "M"}${X(x).toFixed(1)} ${Y(ys[i]).toFixed(1)}`).join("");
  const line = (X, Y, xs, ys, colour, dash = "", width = 1.5) =>
    `<path d="${path(X, Y, xs, ys)}" fill="none" stroke="${colour}" stroke-width="${width}" stroke-dasharray="${dash}"/>`;
  const area = (X, Y, xs, low, high, fill, opacity = 0.2, edge = "none", width = 1) =>
    `<path d="${path(X, Y, [...xs, ...[...xs].reverse()], [...low, ...[...high].reverse()])}Z" fill="${fill}" fill-opacity="${opacity}" stroke="${edge}" stroke-width="${width}"/>`;
  const dot = (x, y, r, fill, stroke = "none") => `<circle cx="${x}" cy="${y}" r="${r}" fill="${fill}" stroke="${stroke}" stroke-width="1.5"/>`;
  const text = (x, y, its, more = "") => `<text x="${x}" y="${y}" ${more}>${its}</text>`; // x is its middle
  const shown = (v, digits = 2) => String(+v.toFixed(digits)).replace("-", "−");

  const ticks = (low, high, most) => {
    const raw = (high - low) / most, power = 10 ** Math.floor(Math.log10(raw)), its = [];
    const step = power * [1, 2, 2.5, 5, 10].find((m) => m * power >= raw);
    for (let v = Math.ceil(low / step) * step; v <= high + 1e-9 * step; v += step) its.push(v);
    return its;
  };
  // A frame with axes into which `body` (X, Y) draws; X and Y turn numbers into pixels, `host.back` a pixel into x.
  const chart = (host, { height = 300, x, y, xlabel, ylabel, square, title = "", says = title }, body) => {
    const width = host.clientWidth || 340, left = 48, top = title ? 24 : 10, w = width - left - 12, h = square ? w : height - top - 38;
    const X = (v) => left + (v - x[0]) / (x[1] - x[0]) * w, Y = (v) => top + (y[1] - v) / (y[1] - y[0]) * h;
    const grid = ticks(...x, w / 70).map((v) => `<path class="grid" d="M${X(v)} ${top}v${h}"/>` + text(X(v), top + h + 15, shown(v)))
      .concat(ticks(...y, h / 44).map((v) => `<path class="grid" d="M${left} ${Y(v)}h${w}"/>` + text(left - 6, Y(v) + 4, shown(v), 'text-anchor="end"')));
    host.innerHTML = `<svg width="${width}" height="${h + top + 38}" role="img" aria-label="${says}">${grid.join("")}`
      + `<svg x="${left}" y="${top}" width="${w}" height="${h}" viewBox="${left} ${top} ${w} ${h}">${body(X, Y)}</svg>`
      + `<path d="M${left} ${top}v${h}h${w}" fill="none" stroke="${INK}"/>` + text(left + w / 2, top + h + 32, xlabel)
      + text(0, 0, ylabel, `transform="translate(13 ${top + h / 2}) rotate(-90)"`) + text(left, 15, title, 'class="title"') + "</svg>";
    host.back = (pixel) => x[0] + (pixel - left) / w * (x[1] - x[0]);
  };

  const make = (tag, parent, more = {}) => parent.appendChild(Object.assign(document.createElement(tag), more));
  const button = (parent, textContent, onclick) => make("button", parent, { type: "button", textContent, onclick });
  const slider = (parent, label, [min, max, step], value, change) => {
    const box = make("label", parent, { textContent: `${label} ` });
    const input = make("input", box, { type: "range", min, max, step, value, oninput: () => { output.textContent = shown(+input.value); change(+input.value); } });
    const output = make("output", box, { textContent: shown(value) });
    return input;
  };
  const choice = (parent, label, options, value, change) => {
    const box = make("select", make("label", parent, { textContent: `${label} ` }), { onchange: () => change(box.value) });
    options.forEach((its) => box.add(new Option(its, its)));
    box.value = value;
  };
  // What colours and dashes mean, [colour, name, dash, width] each, and more in words.
  const key = (parent, its, more) => make("p", parent, { className: "key", innerHTML: its.map(([colour, name, dash, width = 3]) =>
    `<span><svg width="26" height="12">${line((v) => v, (v) => v, [0, 26], [6, 6], colour, dash, width)}</svg>${name}</span>`).join(" ") + " " + more });

  // Play, one step, and a slider of places, of which `label` says what each is. Slow: at most 4 a second.
  const clock = (parent, count, at, label, render) => {
    const bar = make("div", parent, { className: "bar" }), its = { at, bar };
    let timer = null;
    its.stop = () => { clearInterval(timer); timer = null; play.textContent = "Play"; };
    its.go = (to) => {
      round.value = its.at = Math.min(to, count - 1);
      says.textContent = label(its.at);
      render();
      if (its.at === count - 1) its.stop();
    };
    const play = button(bar, "Play", () => {
      if (timer) return its.stop();
      if (its.at === count - 1) its.go(0);
      if (matchMedia("(prefers-reduced-motion: reduce)").matches) return its.go(count - 1); // the end at once
      play.textContent = "Pause";
      timer = setInterval(() => its.go(its.at + 1), count > 30 ? 250 : 700);
    });
    button(bar, "One step", () => { its.stop(); its.go(its.at + 1); });
    const round = make("input", bar, { type: "range", min: 0, max: count - 1, value: at, ariaLabel: "round", oninput: () => { its.stop(); its.go(+round.value); } });
    const says = make("output", bar, { textContent: label(at) });
    return its;
  };

  return { INK, line, area, dot, text, shown, chart, make, button, slider, choice, clock, key };
})();
