// A live scene: two players on the same function and noise. All rounds are played at once; the slider shows one of them.
"use strict";
const N_ARMS = 200, MISSED = "#c04800";

// A moment opened: what is true, what is given to both players, and the round t that is shown.
const opened = (root, { truth, given, players, t }, { horizon, delta, key, note, about }, looks) => {
  const { INK, line, area, dot, text, shown, chart, make, button, slider, choice } = Charts;
  const x = Array.from({ length: N_ARMS }, (_, i) => i / (N_ARMS - 1));
  let rounds, byHand, seed = 1;
  const run = (p, its, hand) => GP.play({ x, ...its },
    { ...given, noiseVariance: given.noiseSd ** 2, norm: its.norm, delta, margin: p.margin }, p.name, horizon, hand);
  const replay = () => { rounds = players.map((p, i) => run(p, truth, byHand[i])); };
  const renew = () => { byHand = [{}, {}]; many.textContent = ""; replay(); render(); };
  const drawn = (random) => ({ ...truth, ...GP.draw(x, truth.kernel, truth.lengthscale, random),
    noise: Array.from({ length: horizon }, () => GP.normal(random)), rank: x.map(() => random()) });
  const redraw = () => { truth = drawn(GP.generator(seed)); renew(); };
  const pull = (i, arm) => {
    const earlier = Object.entries(byHand[i]).filter(([s]) => s <= time.at);
    byHand[i] = Object.fromEntries([...earlier, [time.at + 1, arm]]);
    replay();
    time.stop();
    time.go(time.at + 1);
  };

  const time = Charts.clock(root, horizon, t - 1, (at) => `round ${at + 1} of ${horizon}`, () => render());
  button(time.bar, "Draw f anew", () => { seed = 1 + Math.floor(Math.random() * 2 ** 31); redraw(); });
  const row = make("div", root, { className: "row" });
  const panels = players.map((p, i) => {
    const its = { cursor: null }, box = make("div", row), head = make("div", box, { className: "bar" });
    choice(head, "policy", Object.keys(GP.policies), p.name, (v) => { p.name = v; renew(); });
    its.margin = slider(head, "margin", [0, 0.5, 0.01], p.margin, (v) => { p.margin = v; renew(); });
    its.host = make("div", box, { className: "chart pick", onclick: (e) => {
      const arm = Math.round(its.host.back(e.clientX - its.host.getBoundingClientRect().left) * (N_ARMS - 1));
      if (arm >= 0 && arm < N_ARMS) pull(i, arm);
    } });
    its.status = make("p", box);
    const foot = make("div", box, { className: "bar" });
    const hand = slider(foot, "x", [0, 1, 1 / (N_ARMS - 1)], 0.5, (v) => { its.cursor = v; render(); });
    button(foot, "Pull x", () => pull(i, Math.round(hand.value * (N_ARMS - 1))));
    return its;
  });
  Charts.key(root, key, note);
  const regret = make("div", root, { className: "chart" }), fold = make("details", root);
  make("summary", fold, { textContent: "Change the problem: what is true, and what the policies assume" });
  [["true", truth, redraw], ["assumed", given, renew]].forEach(([word, start, then]) => {
    const bar = make("div", fold, { className: "bar" });
    const set = (name) => (v) => { (word === "true" ? truth : given)[name] = v; then(); };
    choice(bar, `${word} kernel`, Object.keys(GP.kernels), start.kernel, set("kernel"));
    slider(bar, "lengthscale", [0.02, 0.5, 0.01], start.lengthscale, set("lengthscale"));
    slider(bar, "noise sd", [0.05, 1, 0.05], start.noiseSd, set("noiseSd"));
  });
  make("p", fold, { textContent: about });
  const again = make("div", root, { className: "bar" });
  button(again, "Is one draw typical? Play 50", () => {
    const random = GP.generator(seed + 7), ends = [], asked = rounds;
    const step = () => {
      if (asked !== rounds || !root.isConnected) return; // something was changed meanwhile
      const fresh = drawn(random);
      ends.push(players.map((p) => run(p, fresh)[horizon - 1].regret));
      const mean = (i) => shown(ends.reduce((sum, e) => sum + e[i], 0) / ends.length, 1), less = ends.filter(([a, b]) => b < a).length;
      many.textContent = `Right has less regret in ${less} of ${ends.length} draws; means: left ${mean(0)}, right ${mean(1)}.`;
      if (ends.length < 50) setTimeout(step);
    };
    step();
  });
  const many = make("output", again);

  const named = ({ name, margin }) => name + (margin && /^(EI|PI)/.test(name) ? `, margin ${shown(margin)}` : "");
  const look = (i) => {
    const [[colour, dash], first] = [looks[players[i].name], looks[players[0].name]];
    return [colour, i && first.join() === [colour, dash].join() ? "3 3" : dash];
  };
  const panel = ({ host, status, margin, cursor }, i) => {
    const now = rounds[i][time.at], past = rounds[i].slice(0, time.at), { f } = truth, [colour] = look(i), asks = now.target !== undefined;
    const w = now.width ?? 2, ends = (s) => now.mean.map((v, j) => v + s * w * now.sd[j]), so = time.at + 1, seen = past.map((r) => r.y);
    const y = [Math.min(-4.5, ...seen), Math.max(4.5, ...seen)], says = `${named(players[i])}, round ${so}: next arm ${shown(x[now.arm])}`;
    margin.parentNode.hidden = !asks;
    chart(host, { height: 290, x: [-0.02, 1.02], y, xlabel: "arm x", ylabel: "reward", says }, (X, Y) => {
      const top = Math.max(...now.index), bottom = Y(y[0]), next = X(x[now.arm]);
      const rank = Array.from(now.index, (v) => Math.max(0, 1 + (v - top) / 6)); // of log EI or z the uppermost 6
      const missed = x.map((_, j) => j).filter((j) => now.holds === false && Math.abs(f[j] - now.mean[j]) > w * now.sd[j]);
      return area(X, Y, x, ends(-1), ends(1), colour)
        + (asks ? area(X, (v) => bottom - 34 * v, x, x.map(() => 0), rank, colour, 0.45) : "")
        + line(X, Y, x, f, INK, "5 4") + missed.map((j) => dot(X(x[j]), Y(f[j]), 2, MISSED)).join("") + line(X, Y, x, now.mean, colour, "", 2.2)
        + (asks ? line(X, Y, [0, 1], [now.target, now.target], colour, "2 4") : "")
        + past.map((r, n) => dot(X(x[r.arm]), Y(r.y), ...(n < past.length - 1 ? [2.8, INK] : [4.5, "#fff", INK]))).join("")
        + line(X, Y, [x[now.arm], x[now.arm]], y, colour, "", 1) + `<path d="M${next - 6} ${Y(y[1])}h12l-6 9z" fill="${colour}"/>`
        + (cursor === null ? "" : line(X, Y, [cursor, cursor], y, "#767676", "3 3"));
    });
    const held = rounds[i].slice(0, so).filter((r) => r.holds).length;
    const band = now.width ? `mean ± ${shown(w)} sd, held f in ${held} of ${so} rounds (all x at once)` : "mean ± 2 sd, which promises nothing";
    status.textContent = `Regret so far ${shown(past.at(-1)?.regret ?? 0, 1)}; band: ${band}.`;
  };
  const render = () => {
    panels.forEach(panel);
    const curves = rounds.map((its) => [0, ...its.map((r) => r.regret)]), ends = curves.map((c) => c[time.at]);
    const most = Math.max(...curves.flat()), says = `regret: ${players.map((p, i) => `${named(p)} ${shown(ends[i], 1)}`).join(", ")}`;
    chart(regret, { height: 200, x: [0, horizon], y: [0, most * 1.1 || 1], xlabel: "round", ylabel: "regret", says }, (X, Y) => curves.map((c, i) => {
      const [colour, dash] = look(i), so = c.slice(0, time.at + 1), at = X(time.at), end = Y(ends[i]);
      const upper = ends[i] > ends[1 - i] || (ends[0] === ends[1] && !i), back = time.at > horizon / 2; // the label's place
      const y = Math.min(Math.max(end + (upper ? -8 : 16), 20), Y(0) - 4 - 14 * upper);
      return line(X, Y, so.keys(), so, colour, dash, 2.2) + dot(at, end, 3.5, colour)
        + text(at + (back ? -8 : 8), y, `${["left", "right"][i]}: ${named(players[i])}`, `text-anchor="${back ? "end" : "start"}" fill="${colour}" class="halo"`);
    }).join(""));
  };
  renew();
  return { render, stop: time.stop };
};

// A scene may have several moments, a button each.
const live = (root, its, looks) => {
  const bar = Charts.make("div", root, { className: "bar" }), body = Charts.make("div", root);
  let now;
  const open = (moment) => {
    now?.stop();
    body.replaceChildren();
    now = opened(body, structuredClone(moment), its, looks);
  };
  if (its.moments.length > 1) its.moments.forEach((moment) => Charts.button(bar, moment.name, () => open(moment)));
  open(its.moments[0]);
  return () => now.render();
};
