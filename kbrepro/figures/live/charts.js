// What every scene draws with: charts as strings of SVG in pixels of the page, controls, a clock. No dependencies.
"use strict";
const Charts = (() => {
  const DASHES = { "-": "", "--": "7 4", ":": "2 3", "-.": "8 3 2 3" }, INK = "#222", GREY = "#767676";
  const path = (X, Y, xs, ys) => Array.from(xs, (x, i) => `${i ? "L" : "M"}${X(x).toFixed(1)} ${Y(ys[i]).toFixed(1)}`).join("");
  const line = (X, Y, xs, ys, colour, dash = "", width = 1.5) =>
    `<path d="${path(X, Y, xs, ys)}" fill="none" stroke="${colour}" stroke-width="${width}" stroke-dasharray="${dash}"/>`;
  const area = (X, Y, xs, low, high, colour, opacity = 0.2) =>
    `<path d="${path(X, Y, [...xs, ...[...xs].reverse()], [...low, ...[...high].reverse()])}Z" fill="${colour}" opacity="${opacity}"/>`;
  const dot = (x, y, r, fill, stroke = "none") => `<circle cx="${x}" cy="${y}" r="${r}" fill="${fill}" stroke="${stroke}" stroke-width="1.5"/>`;
  const rect = (x, y, w, h, more) => `<rect x="${x}" y="${y}" width="${Math.max(w, 0)}" height="${Math.max(h, 0)}" ${more}/>`;
  const text = (x, y, its, more = "") => `<text x="${x}" y="${y}" ${more}>${its}</text>`;
  const shown = (v, digits = 2) => String(+v.toFixed(digits)).replace("-", "−");

  const ticks = (low, high, most) => {
    const raw = (high - low) / most, power = 10 ** Math.floor(Math.log10(raw));
    const step = power * [1, 2, 2.5, 5, 10].find((m) => m * power >= raw), its = [];
    for (let v = Math.ceil(low / step) * step; v <= high + 1e-9 * step; v += step) its.push(v);
    return its;
  };
  let clips = 0;
  // A frame with axes into which `body` (X, Y) draws; X and Y turn numbers into pixels and remember how to turn back.
  const chart = (host, { height, x, y, xlabel, ylabel, square, title = "" }, body) => {
    const width = host.clientWidth || 340, m = { left: 48, right: 12, top: title ? 24 : 10, bottom: 38 };
    const w = width - m.left - m.right, h = square ? w : height - m.top - m.bottom, id = `clip${clips++}`;
    const X = (v) => m.left + (v - x[0]) / (x[1] - x[0]) * w, Y = (v) => m.top + (y[1] - v) / (y[1] - y[0]) * h;
    const grid = ticks(...x, w / 70).map((v) => `<path class="grid" d="M${X(v)} ${m.top}v${h}"/>` + text(X(v), m.top + h + 15, shown(v), 'text-anchor="middle"'))
      .concat(ticks(...y, h / 44).map((v) => `<path class="grid" d="M${m.left} ${Y(v)}h${w}"/>` + text(m.left - 6, Y(v) + 4, shown(v), 'text-anchor="end"')));
    const middle = m.top + h / 2;
    host.innerHTML = `<svg width="${width}" height="${h + m.top + m.bottom}" role="img" aria-label="${host.dataset.says || title || ylabel}">`
      + `<clipPath id="${id}">${rect(m.left, m.top, w, h, "")}</clipPath>${grid.join("")}<g clip-path="url(#${id})">${body(X, Y)}</g>`
      + `<path d="M${m.left} ${m.top}v${h}h${w}" fill="none" stroke="${INK}"/>` + text(m.left + w / 2, m.top + h + 32, xlabel, 'text-anchor="middle"')
      + text(13, middle, ylabel, `text-anchor="middle" transform="rotate(-90 13 ${middle})"`) + text(m.left, 15, title, 'font-weight="600"') + "</svg>";
    host.back = (pixel) => x[0] + (pixel - m.left) / w * (x[1] - x[0]);
  };
  const make = (tag, parent, more = {}) => parent.appendChild(Object.assign(document.createElement(tag), more));
  const slider = (parent, label, [min, max, step], value, change) => {
    const box = make("label", parent, { textContent: `${label} ` }), output = document.createElement("output");
    const input = make("input", box, { type: "range", min, max, step, value, oninput: () => { output.textContent = shown(+input.value); change(+input.value); } });
    output.textContent = shown(value);
    box.append(output);
    return { input, set: (v) => { input.value = v; output.textContent = shown(v); } };
  };
  const choice = (parent, label, options, value, change) => {
    const box = make("select", make("label", parent, { textContent: `${label} ` }), { onchange: () => change(box.value) });
    options.forEach((its) => box.add(new Option(its, its)));
    box.value = value;
    return box;
  };
  // What colours and dashes mean, [colour, name, dash] each, and more in words.
  const key = (parent, its, more = "") => make("p", parent, { className: "key", innerHTML: its.map(([colour, name, dash]) =>
    `<span><svg width="26" height="10">${line((v) => v, (v) => v, [0, 26], [5, 5], colour, dash, 3)}</svg>${name}</span>`).join(" ") + " " + more });

  // Play, one step, and a slider of rounds; `values` says what each place of the slider stands for. Slow: 4 a second.
  const clock = (parent, count, at, label, render) => {
    let timer = null;
    const bar = make("div", parent, { className: "bar" }), calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const stop = () => { clearInterval(timer); timer = null; play.textContent = "Play"; };
    const go = (to) => { its.at = Math.min(Math.max(to, 0), count - 1); round.value = its.at; says.textContent = label(its.at); render(); if (its.at === count - 1) stop(); };
    const play = make("button", bar, { type: "button", textContent: "Play", onclick: () => {
      if (timer) return stop();
      if (its.at === count - 1) go(0);
      if (calm) return go(count - 1); // who wants less motion sees the end at once
      play.textContent = "Pause";
      timer = setInterval(() => go(its.at + 1), count > 30 ? 250 : 700);
    } });
    make("button", bar, { type: "button", textContent: "One step", onclick: () => { stop(); go(its.at + 1); } });
    const round = make("input", bar, { type: "range", min: 0, max: count - 1, value: at, oninput: () => { stop(); go(+round.value); } });
    round.setAttribute("aria-label", "round");
    const says = make("output", bar, { textContent: label(at) }), its = { at, bar, go, stop };
    return its;
  };

  return { DASHES, INK, GREY, line, area, dot, rect, text, shown, chart, make, slider, choice, clock, key };
})();
