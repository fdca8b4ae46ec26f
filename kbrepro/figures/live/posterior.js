// The exact posterior of a Gaussian process over arms on a line, the policies that look at it, and a run of one.
// No dependencies. Rounds t count from 1. A width multiplies the posterior standard deviation. Each formula is that of
// kbrepro's Python (kernels, posterior, confidence, policies); tests/site/test_live.py runs this file beside it.
"use strict";
const GP = (() => {
  // Kernels of variance 1, of the distance r and the lengthscale l.
  const matern = (s, polynomial) => polynomial * Math.exp(-s);
  const kernels = {
    "SE": (r, l) => Math.exp(-0.5 * (r / l) ** 2),
    "Matérn 3/2": (r, l) => { const s = Math.sqrt(3) * r / l; return matern(s, 1 + s); },
    "Matérn 5/2": (r, l) => { const s = Math.sqrt(5) * r / l; return matern(s, 1 + s + s * s / 3); },
  };
  const gram = (x, kernel, l) => Array.from(x, (a) => Float64Array.from(x, (b) => kernels[kernel](Math.abs(a - b), l)));

  // Posterior over the arms x, given the kernel, its lengthscale and the noise variance; nothing is pulled yet.
  const prior = (x, { kernel, lengthscale, noiseVariance }) => ({
    covariance: gram(x, kernel, lengthscale), mean: new Float64Array(x.length), counts: new Int32Array(x.length),
    noiseVariance, gain: 0, bestReward: -Infinity,
  });

  // Condition on one observation y of an arm: a change of rank one. The gain is I(y; f) of the pulls so far, in nats.
  const update = (its, arm, y) => {
    const { covariance: C, mean, noiseVariance } = its, n = mean.length;
    const scale = Math.sqrt(Math.max(C[arm][arm], 0) + noiseVariance);
    const g = C[arm].map((c) => c / scale), move = (y - mean[arm]) / scale;
    for (let i = 0; i < n; i++) {
      mean[i] += g[i] * move;
      for (let j = 0; j < n; j++) C[i][j] -= g[i] * g[j];
    }
    its.gain += Math.log(scale / Math.sqrt(noiseVariance));
    its.counts[arm] += 1;
    its.bestReward = Math.max(its.bestReward, y);
  };
  const sd = (its) => its.mean.map((_, i) => Math.sqrt(Math.max(its.covariance[i][i], 0)));

  // Widths. Bayesian: f is a draw, `divide` divides beta. The others: f has a norm of at most `norm`, noise scale R.
  const bayes = (t, nArms, delta, divide) => Math.sqrt(2 * Math.log(nArms * t ** 2 * Math.PI ** 2 / (6 * delta)) / divide);
  const improved = (gain, { norm, noiseScale, delta }) => norm + noiseScale * Math.sqrt(2 * (gain + 1 + Math.log(1 / delta)));
  const tighter = (gain, { norm, noiseScale, noiseVariance, delta }) =>
    Math.sqrt(norm ** 2 + 2 * noiseScale ** 2 / noiseVariance * (gain + Math.log(1 / delta)));

  // log E[max(z + N(0, 1), 0)] = log(phi(z) + z Phi(z)), also where that underflows.
  const LOG_ROOT_2PI = 0.5 * Math.log(2 * Math.PI);
  const logExpectedExcess = (z) => {
    const logPhi = -0.5 * z * z - LOG_ROOT_2PI;
    if (z > -1) return Math.log(Math.exp(logPhi) + z * normalCdf(z));
    // Phi(-x) = phi(x) / (x + K), K = 1 / (x + 2 / (x + 3 / (x + ...))); so phi - x Phi = phi K / (x + K)
    const x = -z;
    let K = 0;
    for (let n = Math.ceil(20 + 200 / (x * x)); n > 0; n--) K = n / (x + K);
    return logPhi + Math.log(K / (x + K));
  };
  // Phi(z) = 1/2 + phi(z) (z + z^3 / 3 + z^5 / (3 5) + ...), to full precision for z > -1.
  const normalCdf = (z) => {
    if (z > 9) return 1;
    let term = z, sum = z;
    for (let n = 3; Math.abs(term) > 1e-17 * Math.abs(sum); n += 2) sum += term *= z * z / n;
    return 0.5 + Math.exp(-0.5 * z * z - LOG_ROOT_2PI) * sum;
  };

  // What EI and PI want to exceed: the best posterior mean of a pulled arm or the best observation, plus a margin.
  const target = (its, incumbent, margin) => {
    const pulled = its.mean.filter((_, i) => its.counts[i] > 0);
    if (!pulled.length) return Math.max(...its.mean) + margin;
    return (incumbent === "reward" ? its.bestReward : Math.max(...pulled)) + margin;
  };
  const zScore = (excess, s) => (s > 0 ? excess / s : excess > 0 ? Infinity : -Infinity);
  const logImprovement = (excess, s) =>
    s > 0 ? Math.log(s) + logExpectedExcess(excess / s) : excess > 0 ? Math.log(excess) : -Infinity;

  // Each policy: its width in round t of a posterior, or the arm's index from (mean - target, sd) and its incumbent.
  const policies = {
    "GP-UCB": { width: (its, t, given) => bayes(t, its.mean.length, given.delta, 1) },
    "GP-UCB/5": { width: (its, t, given) => bayes(t, its.mean.length, given.delta, 5) },
    "IGP-UCB": { width: (its, t, given) => improved(its.gain, given) },
    "IGP-UCB, tighter": { width: (its, t, given) => tighter(its.gain, given) },
    "EI": { index: logImprovement, incumbent: "mean" },
    "EI, noisy incumbent": { index: logImprovement, incumbent: "reward" },
    "PI": { index: zScore, incumbent: "mean" },
    "PI, noisy incumbent": { index: zScore, incumbent: "reward" },
    "mean only": {},
  };

  // What a policy sees before its pull of round t: the index of every arm, and its width or its target.
  const look = (name, its, t, given) => {
    const { width, index, incumbent } = policies[name], s = sd(its), mean = its.mean.slice();
    if (width) {
      const w = width(its, t, given);
      return { mean, sd: s, width: w, index: mean.map((m, i) => m + w * s[i]) };
    }
    if (!index) return { mean, sd: s, index: mean };
    const goal = target(its, incumbent, given.margin);
    return { mean, sd: s, target: goal, index: mean.map((m, i) => index(m - goal, s[i])) };
  };

  // The arm of largest index; of those within 1e-10 (1 + |largest|) of it the one of lowest rank.
  const bestArm = (index, rank) => {
    const top = Math.max(...index), slack = Number.isFinite(top) ? 1e-10 * (1 + Math.abs(top)) : 0;
    let best = -1;
    index.forEach((value, i) => { if (value >= top - slack && (best < 0 || rank[i] < rank[best])) best = i; });
    return best;
  };

  // A run: what stood before each pull, the pull, and the regret after it. `noise` is standard normal, by round;
  // `byHand` {t: arm} overrules the policy. The band holds if f lies in it at every arm.
  const play = ({ x, f, noise, noiseSd, rank }, given, name, horizon, byHand = {}) => {
    const its = prior(x, given), best = Math.max(...f), rounds = [];
    for (let t = 1, regret = 0; t <= horizon; t++) {
      const seen = look(name, its, t, given), arm = byHand[t] ?? bestArm(seen.index, rank);
      const y = f[arm] + noiseSd * noise[t - 1];
      const holds = seen.width === undefined ? null : !f.some((v, i) => Math.abs(v - seen.mean[i]) > seen.width * seen.sd[i]);
      regret += best - f[arm];
      rounds.push({ t, ...seen, arm, y, holds, regret, gain: its.gain });
      update(its, arm, y);
    }
    return rounds;
  };

  // Random numbers from a seed (mulberry32), standard normal ones (Box and Muller), a permutation (Fisher and Yates).
  const generator = (seed) => () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let v = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    v = (v + Math.imul(v ^ (v >>> 7), 61 | v)) ^ v;
    return ((v ^ (v >>> 14)) >>> 0) / 2 ** 32;
  };
  const normal = (random) => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  const permutation = (n, random) => {
    const its = [...Array(n).keys()];
    for (let i = n - 1; i > 0; i--) { const j = Math.floor(random() * (i + 1)); [its[i], its[j]] = [its[j], its[i]]; }
    return its;
  };

  // A draw f = L z of the GP, L L' = K by a pivoted Cholesky factor. |z| bounds the norm of f in the kernel's space.
  const draw = (x, kernel, lengthscale, random) => {
    const K = gram(x, kernel, lengthscale), left = Float64Array.from(x, () => 1), L = [], f = new Float64Array(x.length);
    let squares = 0;
    while (L.length < x.length) {
      const pivot = left.indexOf(Math.max(...left));
      if (left[pivot] <= 1e-12) break;
      const root = Math.sqrt(left[pivot]);
      const column = K[pivot].map((k, i) => (k - L.reduce((sum, c) => sum + c[i] * c[pivot], 0)) / root), z = normal(random);
      column.forEach((c, i) => { left[i] -= c * c; f[i] += c * z; });
      squares += z * z;
      L.push(column);
    }
    return { f, norm: Math.sqrt(squares) };
  };

  return { kernels, gram, prior, update, sd, bayes, improved, tighter, logExpectedExcess, target, policies, look, bestArm,
    play, generator, normal, permutation, draw };
})();
