// What every scene is made of: charts, which are strings of SVG, controls, a clock.
const Charts = (() => {
  const INK = "#222";
  const shown = (v, digits = 2) => String(+v.toFixed(digits)).replace("-", "−");

  const ticks = (low, high, most) => {
    const raw = (high - low) / most, power = 10 ** Math.floor(Math.log10(raw)), its = [];
    const step = power * [1, 2, 2.5, 5, 10].find((m) => m * power >= raw);
    for (let v = Math.ceil(low / step) * step; v <= high + 1e-9 * step; v += step) its.push(v);
    return its;
  };
  // A frame with axes; `draw` lists what its pen makes of numbers, and `host.back` turns a pixel into x.
  const chart = (host, { height = 300, x, y, inputs, xlabel, ylabel, square, title = "", says = title || ylabel }, draw) => {
    const width = host.clientWidth || 340, left = 48, top = title ? 24 : 10, w = width - left - 12, h = square ? w : height - top - 38;
    const X = (v) => left + (v - x[0]) / (x[1] - x[0]) * w, Y = (v) => top + (y[1] - v) / (y[1] - y[0]) * h;
    const path = (xs, ys) => Array.from(xs, (v, i) => `${i ? "L" : "M"}${X(v).toFixed(1)} ${Y(ys[i]).toFixed(1)}`).join("");
    const shape = (xs, ys, fill, opacity, edge = "none", width = 1) =>
      `<path d="${path(xs, ys)}Z" fill="${fill}" fill-opacity="${opacity}" stroke="${edge}" stroke-width="${width}"/>`;
    const text = (a, b, its, more = "") => `<text x="${a}" y="${b}" ${more}>${its}</text>`; // a is its middle
    const pen = {
      line: (xs, ys, colour, dash = "", width = 1.5) =>
        `<path d="${path(xs ?? inputs, ys)}" fill="none" stroke="${colour}" stroke-width="${width}" stroke-dasharray="${dash}"/>`,
      area: (low, high, fill, opacity = 0.2, edge, width) => shape([...inputs, ...[...inputs].reverse()], [...low, ...[...high].reverse()], fill, opacity, edge, width),
      dots: (its, r, fill = INK, edge = "none") => its.map(([a, b]) => `<circle cx="${X(a)}" cy="${Y(b)}" r="${r}" fill="${fill}" stroke="${edge}"/>`).join(""),
      // [left, low, right, high] in units of 1 / parts, and opacity in per cent
      boxes: (its, fill, edge, parts = 1) => its.map(([a, b, c, d, opacity = 100]) =>
        shape([a, a, c, c].map((v) => v / parts), [b, d, d, b].map((v) => v / parts), fill, opacity / 100, edge)).join(""),
      text: (a, b, its, fill, more = 'dy="7" font-size="20"') => text(X(a), Y(b), its, `fill="${fill}" ${more}`),
    };
    const grid = ticks(...x, w / 70).map((v) => `<path class="grid" d="M${X(v)} ${top}v${h}"/>` + text(X(v), top + h + 15, shown(v)))
      .concat(ticks(...y, h / 44).map((v) => `<path class="grid" d="M${left} ${Y(v)}h${w}"/>` + text(left - 6, Y(v) + 4, shown(v), 'text-anchor="end"')));
    host.innerHTML = `<svg width="${width}" height="${h + top + 38}" role="img" aria-label="${says}">${grid.join("")}`
      + `<svg x="${left}" y="${top}" width="${w}" height="${h}" viewBox="${left} ${top} ${w} ${h}">${draw(pen).join("")}</svg>`
      + `<path d="M${left} ${top}v${h}h${w}" fill="none" stroke="${INK}"/>` + text(left + w / 2, top + h + 32, xlabel)
      + text(0, 0, ylabel, `transform="translate(13 ${top + h / 2}) rotate(-90)"`) + text(left, 15, title, 'class="title"') + "</svg>";
    host.back = (pixel) => x[0] + (pixel - left) / w * (x[1] - x[0]);
  };

  const make = (tag, parent, more = {}) => parent.appendChild(Object.assign(document.createElement(tag), more));
  const div = (parent, className) => make("div", parent, { className });
  const button = (parent, textContent, onclick) => make("button", parent, { type: "button", textContent, onclick });
  const slider = (parent, label, [min, max, step], value, change) => {
    const box = make("label", parent, { textContent: label });
    const input = make("input", box, { type: "range", min, max, step, value, oninput: () => { output.textContent = shown(+input.value); change(+input.value); } });
    const output = make("output", box, { textContent: shown(value) });
    return input;
  };
  const choice = (parent, label, options, value, change) => {
    const box = make("select", make("label", parent, { textContent: label }), { onchange: () => change(box.value) });
    Object.keys(options).forEach((its) => box.add(new Option(its)));
    box.value = value;
  };
  // What lines mean, [colour, name, dash, width] each, and more in words.
  const key = (host, its, more) => Object.assign(host, { className: "key", innerHTML: its.map(([colour, name, dash = "", width = 3]) =>
    `<span><svg width="26" height="12"><path d="M0 6h26" stroke="${colour}" stroke-width="${width}" stroke-dasharray="${dash}"/></svg>${name}</span>`).join(" ") + " " + more });

  // Play, one step, and a slider of places that have a label each.
  const clock = (parent, count, at, label, render) => {
    const bar = div(parent, "bar"), its = { at, bar };
    let timer = null;
    its.stop = () => { clearInterval(timer); timer = null; play.textContent = "Play"; };
    its.go = (to) => {
      round.value = its.at = Math.min(to, count - 1);
      says.textContent = label(its.at);
      render();
      if (its.at === count - 1 || !bar.isConnected) its.stop();
    };
    const play = button(bar, "Play", () => {
      if (timer) return its.stop();
      if (its.at === count - 1) its.go(0);
      if (matchMedia("(prefers-reduced-motion: reduce)").matches) return its.go(count - 1); // the end at once
      play.textContent = "Pause";
      timer = setInterval(() => its.go(its.at + 1), 400);
    });
    button(bar, "One step", () => { its.stop(); its.go(its.at + 1); });
    const round = make("input", bar, { type: "range", min: 0, max: count - 1, value: at, ariaLabel: "round", oninput: () => { its.stop(); its.go(+round.value); } });
    const says = make("output", bar, { textContent: label(at) });
    return its;
  };

  return { INK, shown, chart, make, div, button, slider, choice, clock, key };
})();
