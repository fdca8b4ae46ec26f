// A live scene: two players on the same function and noise. All rounds are played at once; the slider shows one of them.
"use strict";
const live = (root, its, looks) => {
  const { DASHES, INK, GREY, line, area, dot, shown, chart, make, slider, choice, clock, key } = Charts;
  const x = Array.from({ length: 200 }, (_, i) => i / 199), { horizon } = its;
  let truth, given, players, rounds, byHand, seed = 1;
  const named = (p) => p.name + (/^(EI|PI)/.test(p.name) && p.margin ? `, margin ${shown(p.margin)}` : "");
  const look = (i) => {
    const [colour, style] = looks[players[i].name], same = i && looks[players[0].name].join() === looks[players[1].name].join();
    return [colour, same ? "3 3" : DASHES[style]];
  };
  const noised = () => ({ ...given, noiseVariance: given.noiseSd ** 2, noiseScale: given.noiseSd, norm: truth.norm, delta: its.delta });
  const run = (p, true_, hand = {}) => GP.play({ x, ...true_ }, { ...noised(), norm: true_.norm, margin: p.margin }, p.name, horizon, hand);
  const replay = () => { rounds = players.map((p, i) => run(p, truth, byHand[i])); };
  const renew = () => { byHand = [{}, {}]; many.textContent = ""; replay(); render(); };
  const drawn = (random) => ({ ...truth, ...GP.draw(x, truth.kernel, truth.lengthscale, random),
    noise: Array.from({ length: horizon }, () => GP.normal(random)), rank: GP.permutation(200, random) });
  const redraw = () => { truth = drawn(GP.generator(seed)); renew(); };
  const pull = (i, arm) => {
    const t = time.at + 1;
    byHand[i] = Object.fromEntries([...Object.entries(byHand[i]).filter(([s]) => s < t), [t, arm]]);
    replay();
    time.stop();
    time.go(time.at + 1);
  };

  const moments = its.moments.length > 1 && make("div", root, { className: "bar moments" });
  const time = clock(root, horizon, its.moments[0].t - 1, (at) => `round ${at + 1} of ${horizon}`, () => render());
  make("button", time.bar, { type: "button", textContent: "Draw f anew", onclick: () => { seed = 1 + Math.floor(Math.random() * 2 ** 31); redraw(); } });
  const row = make("div", root, { className: "row" });
  const panels = [0, 1].map((i) => {
    const box = make("div", row, { className: "panel" }), head = make("div", box, { className: "bar" });
    const name = choice(head, "policy", Object.keys(GP.policies), "EI", (v) => { players[i].name = v; renew(); });
    const margin = slider(head, "margin", [0, 0.5, 0.01], 0, (v) => { players[i].margin = v; renew(); });
    const host = make("div", box, { className: "chart pick", onclick: (e) => {
      const arm = Math.round(host.back(e.clientX - host.getBoundingClientRect().left) * 199);
      if (arm >= 0 && arm < 200) pull(i, arm);
    } });
    const status = make("p", box), foot = make("div", box, { className: "bar" });
    const hand = slider(foot, "x", [0, 1, 1 / 199], 0.5, () => { panels[i].cursor = true; render(); });
    make("button", foot, { type: "button", textContent: "Pull x", onclick: () => pull(i, Math.round(hand.input.value * 199)) });
    return { name, margin, host, status, hand, cursor: false };
  });
  key(root, [[INK, "f, unknown", "5 4"], ["#555", "posterior mean and band"], ["#c04800", "where the band misses f"]],
    "Dots: what was observed, the last one open. Triangle: the next arm; click in a panel to pull another. "
    + "EI and PI: dotted what they ask to exceed, shaded below their acquisition, larger is better.");
  const regret = make("div", root, { className: "chart" });
  const fold = make("details", root);
  make("summary", fold, { textContent: "Change the problem: what is true, and what the policies assume" });
  const kernels = Object.keys(GP.kernels), inputs = {};
  [["true", () => truth, redraw], ["assumed", () => given, renew]].forEach(([word, of, then]) => {
    const bar = make("div", fold, { className: "bar" }), on = (key) => (v) => { of()[key] = v; then(); };
    inputs[word] = [choice(bar, `${word} kernel`, kernels, "SE", on("kernel")),
      slider(bar, "lengthscale", [0.02, 0.5, 0.01], 0.1, on("lengthscale")), slider(bar, "noise sd", [0.05, 1, 0.05], 0.5, on("noiseSd"))];
  });
  make("p", fold, { textContent: "SE: squared exponential. GP-UCB has the width of 2010 for f drawn from the assumed kernel; the widths of "
    + "IGP-UCB (2017) and its tighter form (2024) are given the gain of the pulls and a bound on the norm of f under the true kernel. "
    + "For the noise variance used here that of 2017 is not proved." });
  const again = make("div", root, { className: "bar" });
  make("button", again, { type: "button", textContent: "Is one draw typical? Play 50", onclick: () => play50() });
  const many = make("output", again);
  const play50 = () => {
    const random = GP.generator(seed + 7), ends = [], asked = rounds, step = () => {
      if (asked !== rounds) return; // something was changed meanwhile
      const fresh = drawn(random);
      ends.push(players.map((p) => run(p, fresh)[horizon - 1].regret));
      const mean = (i) => shown(ends.reduce((sum, e) => sum + e[i], 0) / ends.length, 1), less = ends.filter(([a, b]) => b < a).length;
      many.textContent = `Right has less regret in ${less} of ${ends.length} draws; means: left ${mean(0)}, right ${mean(1)}.`;
      if (ends.length < 50) setTimeout(step);
    };
    step();
  };

  const panel = (i) => {
    const { host, status, name, margin, hand, cursor } = panels[i], now = rounds[i][time.at], past = rounds[i].slice(0, time.at), p = players[i];
    const [colour] = look(i), w = now.width ?? 2, ends = (s) => now.mean.map((v, j) => v + s * w * now.sd[j]), f = truth.f;
    const range = [Math.min(-4.5, ...past.map((r) => r.y)), Math.max(4.5, ...past.map((r) => r.y))];
    name.value = p.name;
    margin.set(p.margin);
    margin.input.parentNode.hidden = now.target === undefined;
    const missed = past.concat(now).filter((r) => r.holds === false).length, so = time.at + 1;
    const promised = `band: mean ± ${shown(w)} sd, held f in ${so - missed} of ${so} rounds (all x at once)`;
    const band = now.width === undefined ? "band: mean ± 2 sd, which promises nothing" : promised;
    host.dataset.says = `${named(p)}, round ${so}: next arm ${shown(now.arm / 199)}`;
    chart(host, { height: 290, x: [-0.02, 1.02], y: range, xlabel: "arm x", ylabel: "reward" }, (X, Y) => {
      const top = Math.max(...now.index), bottom = Y(range[0]), next = X(x[now.arm]);
      const rank = Array.from(now.index, (v) => Math.max(0, 1 + (v - top) / 6)); // of log EI or z the uppermost 6
      const strip = now.target === undefined ? "" : area(X, (v) => bottom - 34 * v, x, x.map(() => 0), rank, colour, 0.45);
      const out = x.filter((_, j) => now.holds === false && Math.abs(f[j] - now.mean[j]) > w * now.sd[j]);
      const goal = now.target === undefined ? "" : line(X, Y, [0, 1], [now.target, now.target], colour, "2 4");
      return area(X, Y, x, ends(-1), ends(1), colour) + strip + line(X, Y, x, f, INK, "5 4")
        + out.map((v) => dot(X(v), Y(f[Math.round(v * 199)]), 2, "#c04800")).join("")
        + line(X, Y, x, now.mean, colour, "", 2.2) + goal + past.slice(0, -1).map((r) => dot(X(x[r.arm]), Y(r.y), 2.8, INK)).join("")
        + past.slice(-1).map((r) => dot(X(x[r.arm]), Y(r.y), 4.5, "#fff", INK)).join("")
        + `<path d="M${next} ${bottom}V${Y(range[1])}" stroke="${colour}"/><path d="M${next - 6} ${Y(range[1])}h12l-6 9z" fill="${colour}"/>`
        + (cursor ? line(X, Y, [+hand.input.value, +hand.input.value], range, GREY, "3 3") : "");
    });
    status.textContent = `Regret so far ${shown(past.length ? past[past.length - 1].regret : 0, 1)}; ${band}.`;
  };
  const regrets = () => {
    const most = Math.max(...rounds.map((its) => its[horizon - 1].regret));
    const curves = rounds.map((its) => [0, ...its.map((r) => r.regret)]), ends = curves.map((c) => c[time.at]);
    regret.dataset.says = `regret after ${time.at} rounds: ${players.map((p, i) => `${named(p)} ${shown(ends[i], 1)}`).join(", ")}`;
    chart(regret, { height: 200, x: [0, horizon], y: [0, most * 1.1 || 1], xlabel: "round", ylabel: "regret" }, (X, Y) => curves.map((c, i) => {
      const [colour, dash] = look(i), so = c.slice(0, time.at + 1), t = so.map((_, j) => j);
      const upper = ends[i] > ends[1 - i] || (ends[0] === ends[1] && !i), at = X(time.at), left = time.at > horizon / 2;
      const side = left ? `x="${at - 8}" text-anchor="end"` : `x="${at + 8}"`;
      const y = Math.min(Math.max(Y(ends[i]) + (upper ? -8 : 16), 20), Y(0) - 4 - 14 * upper);
      return line(X, Y, t, so, colour, dash, 2.2) + dot(at, Y(ends[i]), 3.5, colour)
        + `<text ${side} y="${y}" fill="${colour}" class="halo">${["left", "right"][i]}: ${named(players[i])}</text>`;
    }).join(""));
  };
  const render = () => { panel(0); panel(1); regrets(); };
  const open = (moment) => {
    ({ truth, given, players } = JSON.parse(JSON.stringify(moment)));
    [["true", truth], ["assumed", given]].forEach(([word, of]) => { const [k, l, n] = inputs[word]; k.value = of.kernel; l.set(of.lengthscale); n.set(of.noiseSd); });
    byHand = [{}, {}];
    many.textContent = "";
    replay();
    time.stop();
    time.go(moment.t - 1);
  };
  if (moments) its.moments.forEach((m) => make("button", moments, { type: "button", textContent: m.name, onclick: () => open(m) }));
  open(its.moments[0]);
  return render;
};
