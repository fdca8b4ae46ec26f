// A live scene: two players on the same function and noise. All rounds are played at once; the slider shows one of them.
const LAST = 199;

// A moment: what is true, what is given to both players, and the round t that is shown.
const opened = (root, { truth, given, players, t }, { horizon, delta, key, missed, note, strip, about }, looks) => {
  const { INK, shown, chart, make, div, button, slider, choice } = Charts;
  const x = Array.from({ length: LAST + 1 }, (_, i) => i / LAST), arm = (v) => Math.round(v * LAST);
  let rounds, byHand, seed = 1;
  const run = (p, its, hand) => GP.play({ x, ...its },
    { ...given, noiseVariance: given.noiseSd ** 2, norm: its.norm, delta, margin: p.margin }, p.name, horizon, hand);
  const replay = () => { rounds = players.map((p, i) => run(p, truth, byHand[i])); };
  const renew = () => { byHand = [{}, {}]; many.textContent = ""; replay(); render(); };
  const drawn = (random) => ({ ...truth, ...GP.draw(x, truth.kernel, truth.lengthscale, random),
    noise: Array.from({ length: horizon }, () => GP.normal(random)), rank: x.map(() => random()) });
  const redraw = () => { truth = drawn(GP.generator(seed)); renew(); };
  const pull = (i, its) => {
    byHand[i][time.at + 1] = its;
    replay();
    time.stop();
    time.go(time.at + 1);
  };

  const time = Charts.clock(root, horizon, t - 1, (at) => `round ${at + 1} of ${horizon}`, () => render());
  button(time.bar, "Draw f anew", () => { seed = Math.ceil(2e9 * Math.random()); redraw(); });
  const row = div(root, "panes"), panels = players.map((p, i) => {
    const its = {}, box = make("div", row), head = div(box, "bar");
    choice(head, "policy", GP.policies, p.name, (v) => { p.name = v; renew(); });
    its.margin = slider(head, "margin", [0, 0.5, 0.01], p.margin, (v) => { p.margin = v; renew(); });
    its.host = make("div", box, { className: "chart pick", onclick: (e) => {
      const clicked = arm(its.host.back(e.clientX - its.host.getBoundingClientRect().left));
      if (clicked in x) pull(i, clicked);
    } });
    its.status = make("p", box);
    const foot = div(box, "bar");
    const hand = slider(foot, "x", [0, 1, 1 / LAST], 0.5, (v) => { its.cursor = v; render(); });
    button(foot, "Pull x", () => pull(i, arm(hand.value)));
    return its;
  });
  const legend = make("p", root), regret = div(root, "chart"), fold = make("details", root);
  make("summary", fold, { textContent: "Change the problem" });
  for (const [word, of, then] of [["true", () => truth, redraw], ["assumed", () => given, renew]]) {
    const bar = div(fold, "bar"), its = (name) => [of()[name], (v) => { of()[name] = v; then(); }];
    choice(bar, `${word} kernel`, GP.kernels, ...its("kernel"));
    slider(bar, "lengthscale", [0.02, 0.5, 0.01], ...its("lengthscale"));
    slider(bar, "noise sd", [0.05, 1, 0.05], ...its("noiseSd"));
  }
  make("p", fold, { textContent: about });
  const again = div(root, "bar");
  button(again, "Play 50 fresh draws", () => {
    const random = GP.generator(seed + 7), asked = rounds;
    let n = 0, less = 0, left = 0, right = 0;
    const step = () => {
      if (asked !== rounds || !root.isConnected) return; // something was changed meanwhile
      const fresh = drawn(random), [a, b] = players.map((p) => run(p, fresh)[horizon - 1].regret);
      [n, less, left, right] = [n + 1, less + (b < a), left + a, right + b];
      many.textContent = `Right has less regret in ${less} of ${n} draws; means: left ${shown(left / n, 1)}, right ${shown(right / n, 1)}.`;
      if (n < 50) setTimeout(step);
    };
    step();
  });
  const many = make("output", again);

  const look = (i) => {
    const [colour, dash] = looks[players[i].name];
    return [colour, i && players[0].name === players[1].name ? "3 3" : dash];
  };
  const panel = ({ host, status, margin, cursor }, i) => {
    const now = rounds[i][time.at], past = rounds[i].slice(0, time.at), { f } = truth, [colour] = look(i), asks = "target" in now;
    const w = now.width ?? 2, ends = (s) => now.mean.map((v, j) => v + s * w * now.sd[j]), so = time.at + 1, seen = past.map((r) => r.y);
    const y = [Math.min(-4.5, ...seen), Math.max(4.5, ...seen)];
    margin.parentNode.hidden = !asks;
    const held = rounds[i].slice(0, so).filter((r) => r.holds).length;
    const band = now.width ? `mean ± ${shown(w)} sd, held f in ${held} of ${so} rounds (all x at once)` : "mean ± 2 sd, which promises nothing";
    status.textContent = `Regret so far ${shown(past.at(-1)?.regret ?? 0, 1)}; band: ${band}.`;
    chart(host, { height: 290, x: [-0.02, 1.02], y, inputs: x, xlabel: "arm x", ylabel: "reward", says: status.textContent }, (pen) => {
      const top = Math.max(...now.index), strip = Array.from(now.index, (v) => y[0] + Math.max(0, 1.2 + (v - top) / 5)); // log EI or z
      const out = x.map((v, j) => [v, f[j]]).filter(([, v], j) => now.holds === false && Math.abs(v - now.mean[j]) > w * now.sd[j]);
      const upright = (v, ...its) => pen.line([v, v], y, ...its), spots = past.map((r) => [x[r.arm], r.y]);
      return [pen.area(ends(-1), ends(1), colour), asks ? pen.area(x.map(() => y[0]), strip, colour, 0.45) : "",
        pen.line(x, f, INK, "5 4"), pen.dots(out, 2, missed[0]), pen.line(x, now.mean, colour, "", 2.2),
        asks ? pen.line([0, 1], [now.target, now.target], colour, "2 4") : "", pen.dots(spots.slice(0, -1), 2.8), pen.dots(spots.slice(-1), 4.5, "#fff", INK),
        upright(x[now.arm], colour, "", 1), pen.text(x[now.arm], y[1], "▼", colour, 'dy="12" font-size="16"'), cursor >= 0 ? upright(cursor, "#767676", "3 3") : ""];
    });
  };
  const render = () => {
    panels.forEach(panel);
    const asks = rounds.map((its) => "target" in its[time.at]);
    Charts.key(legend, rounds.some((its) => its[time.at].holds === false) ? [...key, missed] : key, asks.includes(true) ? `${note} ${strip}` : note);
    const curves = rounds.map((its) => [0, ...its.map((r) => r.regret)]), ends = curves.map((c) => c[time.at]), most = Math.max(...curves.flat()) || 1;
    chart(regret, { height: 200, x: [0, horizon], y: [-0.15 * most, 1.15 * most], xlabel: "round", ylabel: "regret" }, (pen) => curves.map((c, i) => {
      const [colour, dash] = look(i), { name, margin } = players[i];
      const label = `${i ? "right" : "left"}: ${name}${asks[i] && margin ? `, margin ${margin}` : ""}`;
      const at = Math.min(time.at, horizon * (1 - label.length * 7 / (regret.clientWidth - 60)));
      return pen.line(c.slice(0, time.at + 1).keys(), c, colour, dash, 2.2) + pen.dots([[time.at, ends[i]]], 3.5, colour)
        + pen.text(at, ends[i], label, colour, `class="halo" dy="${i === +(ends[1] > ends[0]) ? -8 : 16}"`);
    }));
  };
  renew();
  return render;
};

// A scene may have several moments, a button each.
const live = (root, its, looks) => {
  const bar = Charts.div(root, "bar"), body = Charts.make("div", root);
  let render;
  for (const moment of its.moments) {
    const button = Charts.button(bar, moment.name, () => {
      for (const one of bar.children) one.ariaPressed = one === button;
      body.replaceChildren();
      render = opened(body, structuredClone(moment), its, looks);
    });
  }
  bar.hidden = its.moments.length < 2;
  bar.firstChild.click();
  return () => render();
};
