// Try it: two players on one function and the same noise. All rounds are played at once; the slider shows one of them.
const INK = "#222", MISSED = "#b050e8", HORIZON = 100, DELTA = 0.1, LAST = 199;
const X = Array.from({ length: LAST + 1 }, (_, i) => i / LAST);
const KEY = [["f, unknown", INK, "5 4"], ["posterior mean and band", "#555", ""], ["where the band misses f", MISSED, ""]];
const NOTE = "Dots: what was observed, the last one open. Triangle: the next arm; click in a panel to pull another.";
const STRIP = " EI: dotted what it asks to exceed, shaded the log of EI, cut below its top; larger is better.";

// Charts are strings of SVG.

const shown = (v, digits = 2) => String(+v.toFixed(digits)).replace("-", "−");
const ticks = (low, high, most) => {
  const raw = (high - low) / most, power = 10 ** Math.floor(Math.log10(raw));
  const step = power * [1, 2, 2.5, 5, 10].find((m) => m * power >= raw), first = Math.ceil(low / step);
  return Array.from({ length: Math.floor(high / step + 1e-9) - first + 1 }, (_, i) => (first + i) * step);
};
// A frame with axes; `draw` lists what its pen makes of numbers, and `host.back` turns a pixel into x.
const chart = (host, { height, x, y, xlabel, ylabel, says = ylabel }, draw) => {
  const left = 48, top = 10, width = host.clientWidth || 340, w = width - left - 12, h = height - top - 38;
  const across = (v) => left + (v - x[0]) / (x[1] - x[0]) * w, up = (v) => top + (y[1] - v) / (y[1] - y[0]) * h;
  const path = (xs, ys) => Array.from(xs, (v, i) => `${i ? "L" : "M"}${across(v).toFixed(1)} ${up(ys[i]).toFixed(1)}`).join("");
  const text = (a, b, words, more = "") => `<text x="${a}" y="${b}" ${more}>${words}</text>`; // a is its middle
  const pen = {
    line: (xs, ys, colour, dash = "", width = 1.5) =>
      `<path d="${path(xs, ys)}" fill="none" stroke="${colour}" stroke-width="${width}" stroke-dasharray="${dash}"/>`,
    area: (low, high, fill, opacity) =>
      `<path d="${path([...X, ...[...X].reverse()], [...low, ...[...high].reverse()])}Z" fill="${fill}" fill-opacity="${opacity}"/>`,
    dots: (places, r, fill = INK, edge = "none") =>
      places.map(([a, b]) => `<circle cx="${across(a)}" cy="${up(b)}" r="${r}" fill="${fill}" stroke="${edge}"/>`).join(""),
    text: (a, b, words, fill, more) => text(across(a), up(b), words, `fill="${fill}" ${more}`),
  };
  const grid = ticks(...x, w / 70).map((v) => `<path class="grid" d="M${across(v)} ${top}v${h}"/>` + text(across(v), top + h + 15, shown(v)))
    .concat(ticks(...y, h / 44).map((v) => `<path class="grid" d="M${left} ${up(v)}h${w}"/>` + text(left - 6, up(v) + 4, shown(v), 'text-anchor="end"')));
  host.innerHTML = `<svg width="${width}" height="${height}" role="img" aria-label="${says}">${grid.join("")}`
    + `<svg x="${left}" y="${top}" width="${w}" height="${h}" viewBox="${left} ${top} ${w} ${h}">${draw(pen).join("")}</svg>`
    + `<path d="M${left} ${top}v${h}h${w}" fill="none" stroke="${INK}"/>` + text(left + w / 2, top + h + 32, xlabel)
    + text(0, 0, ylabel, `transform="translate(13 ${top + h / 2}) rotate(-90)"`) + "</svg>";
  host.back = (pixel) => x[0] + (pixel - left) / w * (x[1] - x[0]);
};

// Controls

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
  Object.keys(options).forEach((name) => box.add(new Option(name)));
  box.value = value;
};

// A moment: what is true and, at first, given to both players, the seed of f, and the round t that is shown.
const opened = (root, { seed, kernel, lengthscale, noiseSd, players, t }, looks) => {
  const truth = { kernel, lengthscale, noiseSd }, given = { ...truth };
  let problem, rounds, byHand, at = t - 1, timer = null;
  const drawn = (random) => GP.drawn(X, truth, HORIZON, random);
  const run = (on, player, hand) => GP.play(on, { ...given, noiseVariance: given.noiseSd ** 2, delta: DELTA, margin: player.margin },
    player.name, HORIZON, hand);
  const replay = () => { rounds = players.map((player, i) => run(problem, player, byHand[i])); };
  const renew = () => { byHand = [{}, {}]; many.textContent = ""; replay(); render(); };
  const redraw = () => { problem = drawn(GP.generator(seed)); renew(); };
  const stop = () => { clearInterval(timer); timer = null; play.textContent = "Play"; };
  const go = (to) => {
    at = Math.min(to, HORIZON - 1);
    render();
    if (at === HORIZON - 1 || !root.isConnected) stop();
  };
  const step = () => { stop(); go(at + 1); };
  const pull = (i, arm) => { byHand[i][at + 1] = arm; replay(); step(); };

  const bar = div(root, "bar"), play = button(bar, "Play", () => {
    if (timer) return stop();
    if (at === HORIZON - 1) go(0);
    play.textContent = "Pause";
    timer = setInterval(() => go(at + 1), 400);
  });
  button(bar, "One step", step);
  const round = make("input", bar, { type: "range", max: HORIZON - 1, ariaLabel: "round", oninput: () => { stop(); go(+round.value); } });
  const count = make("output", bar);
  button(bar, "Draw f anew", () => { seed = Math.ceil(2e9 * Math.random()); redraw(); });
  const panes = div(root, "panes"), panels = players.map((player, i) => {
    const panel = {}, box = make("div", panes), head = div(box, "bar");
    choice(head, "policy", GP.policies, player.name, (v) => { player.name = v; renew(); });
    panel.margin = slider(head, "margin", [0, 0.5, 0.01], player.margin, (v) => { player.margin = v; renew(); });
    panel.host = make("div", box, { className: "chart pick", onclick: (e) => {
      const arm = Math.round(LAST * panel.host.back(e.clientX - panel.host.getBoundingClientRect().left));
      if (arm in X) pull(i, arm);
    } });
    panel.status = make("p", box);
    return panel;
  });
  const legend = make("p", root, { className: "key" }), regret = div(root, "chart"), fold = make("details", root);
  make("summary", fold, { textContent: "Change the problem" });
  for (const [word, setting, then] of [["true", truth, redraw], ["assumed", given, renew]]) {
    const bar = div(fold, "bar"), of = (name) => [setting[name], (v) => { setting[name] = v; then(); }];
    choice(bar, `${word} kernel`, GP.kernels, ...of("kernel"));
    slider(bar, "lengthscale", [0.02, 0.5, 0.01], ...of("lengthscale"));
    slider(bar, "noise sd", [0.05, 1, 0.05], ...of("noiseSd"));
  }
  const again = div(root, "bar");
  button(again, "Play 50 fresh draws", () => {
    const random = GP.generator(seed + 7), asked = rounds;
    let n = 0, less = 0, left = 0, right = 0;
    const next = () => {
      if (asked !== rounds || !root.isConnected) return; // something was changed meanwhile
      const fresh = drawn(random), [a, b] = players.map((player) => run(fresh, player)[HORIZON - 1].regret);
      [n, less, left, right] = [n + 1, less + (b < a), left + a, right + b];
      many.textContent = `Right has less regret in ${less} of ${n} draws; means: left ${shown(left / n, 1)}, right ${shown(right / n, 1)}.`;
      if (n < 50) setTimeout(next);
    };
    next();
  });
  const many = make("output", again);

  const look = (i) => {
    const [colour, dash] = looks[players[i].name];
    return [colour, i && players[0].name === players[1].name ? "3 3" : dash];
  };
  const show = ({ host, status, margin }, i) => {
    const now = rounds[i][at], past = rounds[i].slice(0, at), { f } = problem, [colour] = look(i), asks = "target" in now;
    const w = now.width ?? 2, edge = (s) => now.mean.map((v, j) => v + s * w * now.sd[j]), rewards = past.map((r) => r.y);
    const y = [Math.min(-4.5, ...rewards), Math.max(4.5, ...rewards)], held = rounds[i].slice(0, at + 1).filter((r) => r.holds).length;
    const band = now.width ? `mean ± ${shown(w)} sd, held f in ${held} of ${at + 1} rounds (all x at once)` : "mean ± 2 sd, which promises nothing";
    margin.parentNode.hidden = !asks;
    status.textContent = `Regret so far ${shown(past.at(-1)?.regret ?? 0, 1)}; band: ${band}.`;
    chart(host, { height: 338, x: [-0.02, 1.02], y, xlabel: "arm x", ylabel: "reward", says: status.textContent }, (pen) => {
      const top = Math.max(...now.index), strip = Array.from(now.index, (v) => y[0] + Math.max(0, 1.2 + (v - top) / 5)); // log EI
      const out = X.map((v, j) => [v, f[j]]).filter(([, v], j) => now.holds === false && Math.abs(v - now.mean[j]) > w * now.sd[j]);
      const upright = (v, ...style) => pen.line([v, v], y, ...style), seen = past.map((r) => [X[r.arm], r.y]);
      return [pen.area(edge(-1), edge(1), colour, 0.2), asks ? pen.area(X.map(() => y[0]), strip, colour, 0.45) : "",
        pen.line(X, f, INK, "5 4"), pen.dots(out, 2, MISSED), pen.line(X, now.mean, colour, "", 2.2),
        asks ? pen.line([0, 1], [now.target, now.target], colour, "2 4") : "", pen.dots(seen.slice(0, -1), 2.8), pen.dots(seen.slice(-1), 4.5, "#fff", INK),
        upright(X[now.arm], colour, "", 1), pen.text(X[now.arm], y[1], "▼", colour, 'dy="12" font-size="16"')];
    });
  };
  const render = () => {
    round.value = at;
    count.textContent = `round ${at + 1} of ${HORIZON}`;
    panels.forEach(show);
    const asks = rounds.map((played) => "target" in played[at]), missed = rounds.some((played) => played[at].holds === false);
    legend.innerHTML = KEY.slice(0, missed ? 3 : 2).map(([name, colour, dash]) =>
      `<span><svg width="26" height="12"><path d="M0 6h26" stroke="${colour}" stroke-width="3" stroke-dasharray="${dash}"/></svg>${name}</span> `).join("")
      + NOTE + (asks.includes(true) ? STRIP : "");
    const curves = rounds.map((played) => [0, ...played.map((r) => r.regret)]), ends = curves.map((c) => c[at]), most = Math.max(...curves.flat()) || 1;
    chart(regret, { height: 248, x: [0, HORIZON], y: [-0.15 * most, 1.15 * most], xlabel: "round", ylabel: "regret" }, (pen) => curves.map((c, i) => {
      const [colour, dash] = look(i), { name, margin } = players[i];
      const label = `${i ? "right" : "left"}: ${name}${asks[i] && margin ? `, margin ${margin}` : ""}`;
      const place = Math.min(at, HORIZON * (1 - label.length * 7 / (regret.clientWidth - 60)));
      return pen.line(c.slice(0, at + 1).keys(), c, colour, dash, 2.2) + pen.dots([[at, ends[i]]], 3.5, colour)
        + pen.text(place, ends[i], label, colour, `class="halo" dy="${i === +(ends[1] > ends[0]) ? -8 : 16}"`);
    }));
  };
  redraw();
  return render;
};

// A scene may have several moments, a button each. Every scene of the page is started once.
for (const root of document.querySelectorAll(".live:not([data-on])")) {
  const { moments, looks } = JSON.parse(root.querySelector("script").textContent), bar = div(root, "bar"), body = make("div", root);
  let render, width = 0;
  for (const moment of moments) {
    const own = button(bar, moment.name, () => {
      for (const one of bar.children) one.ariaPressed = one === own;
      body.replaceChildren();
      render = opened(body, structuredClone(moment), looks);
    });
  }
  bar.hidden = moments.length < 2;
  bar.firstChild.click();
  root.dataset.on = "";
  new ResizeObserver(() => { if (root.clientWidth !== width) { width = root.clientWidth; render(); } }).observe(root);
}
