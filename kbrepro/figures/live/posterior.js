// The exact posterior of a Gaussian process over arms on a line, and runs of policies. Rounds t count from 1.
// tests/figures/test_live.py runs this file beside kbrepro's Python.
const GP = (() => {
  const { abs, ceil, cos, exp, log, max, sqrt, PI } = Math;

  // Kernels of variance 1, of the distance r and the lengthscale l.
  const kernels = {
    "SE": (r, l) => exp(-0.5 * (r / l) ** 2),
    "Matérn 5/2": (r, l) => { const s = sqrt(5) * r / l; return (1 + s + s * s / 3) * exp(-s); },
  };

  // The posterior before the first pull, and given one more reward y, a change of rank one.
  const prior = (x, { kernel, lengthscale, noiseVariance }) => ({
    covariance: Array.from(x, (a) => Float64Array.from(x, (b) => kernels[kernel](abs(a - b), lengthscale))),
    mean: new Float64Array(x.length), noiseVariance, pulls: [], rewards: [],
  });
  const update = (its, arm, y) => {
    const { covariance: C, mean, noiseVariance } = its, scale = sqrt(max(C[arm][arm], 0) + noiseVariance);
    const g = C[arm].map((c) => c / scale), move = (y - mean[arm]) / scale;
    for (let i = 0; i < mean.length; i++) {
      mean[i] += g[i] * move;
      for (let j = 0; j < mean.length; j++) C[i][j] -= g[i] * g[j];
    }
    its.pulls.push(arm);
    its.rewards.push(y);
  };

  // The width of 2010, to be multiplied by the posterior sd, with beta divided.
  const bayes = (divide) => ({ mean }, t, delta) => sqrt(2 * log(mean.length * t ** 2 * PI ** 2 / (6 * delta)) / divide);

  // log E[max(z + N(0, 1), 0)] = log(phi + z Phi), for z > -1 by Phi = 1/2 + phi (z + z^3 / 3 + z^5 / (3 5) + ...), else
  // by Phi(-x) = phi / (x + K), K = 1 / (x + 2 / (x + 3 / (x + ...))), where phi - x Phi(-x) = phi K / (x + K).
  const logExpectedExcess = (z) => {
    const logPhi = -0.5 * z * z - 0.5 * log(2 * PI), phi = exp(logPhi);
    if (z > 9) return log(z);
    if (z > -1) {
      let term = z, sum = z;
      for (let n = 3; abs(term) > 1e-17 * abs(sum); n += 2) sum += term *= z * z / n;
      return log(phi + z * (0.5 + phi * sum));
    }
    let K = 0;
    for (let n = ceil(20 + 200 / (z * z)); n > 0; n--) K = n / (K - z);
    return logPhi + log(K / (K - z));
  };

  // EI: an arm's index from mean - target and sd. The target is a margin over an incumbent.
  const logEI = (excess, s) => (s > 0 ? log(s) + logExpectedExcess(excess / s) : log(max(excess, 0)));
  const bestMean = ({ pulls, mean }) => max(...pulls.map((arm) => mean[arm]));
  const bestReward = ({ rewards }) => max(...rewards);
  const policies = {
    "GP-UCB": { width: bayes(1) },
    "GP-UCB/5": { width: bayes(5) },
    "EI": { incumbent: bestMean },
    "EI, noisy incumbent": { incumbent: bestReward },
  };

  // The arm of largest index; of those within 1e-10 (1 + |largest|) of it the one of lowest rank.
  const bestArm = (index, rank) => {
    const top = max(...index), slack = 1e-10 * (1 + abs(top));
    const ties = [...index.keys()].filter((i) => index[i] === top || index[i] >= top - slack);
    return ties.reduce((best, i) => (rank[i] < rank[best] ? i : best));
  };

  // A run: what stood before each pull, the pull, and the regret after it. `noise` is standard normal, by round;
  // `byHand` {t: arm} overrules the policy. The band holds if f lies in it at every arm.
  const play = ({ x, f, noise, noiseSd, rank }, given, name, horizon, byHand = {}) => {
    const its = prior(x, given), { width, incumbent } = policies[name], rounds = [];
    for (let t = 1, regret = 0; t <= horizon; t++) {
      const mean = its.mean.slice(), sd = mean.map((_, i) => sqrt(max(its.covariance[i][i], 0)));
      const seen = { mean, sd };
      if (width) {
        const w = seen.width = width(its, t, given.delta);
        seen.index = mean.map((m, i) => m + w * sd[i]);
        seen.holds = f.every((v, i) => abs(v - mean[i]) <= w * sd[i]);
      } else {
        const target = seen.target = (t > 1 ? incumbent(its) : max(...mean)) + given.margin;
        seen.index = mean.map((m, i) => logEI(m - target, sd[i]));
      }
      const arm = byHand[t] ?? bestArm(seen.index, rank), y = f[arm] + noiseSd * noise[t - 1];
      regret += max(...f) - f[arm];
      rounds.push({ ...seen, arm, y, regret });
      update(its, arm, y);
    }
    return rounds;
  };

  // Random numbers from a seed (Park and Miller), and standard normal ones (Box and Muller).
  const generator = (seed) => () => (seed = 48271 * seed % (2 ** 31 - 1)) / (2 ** 31 - 1);
  const normal = (random) => sqrt(-2 * log(1 - random())) * cos(2 * PI * random());

  // A draw f of the GP: the arm of largest variance given those before it, until none is left.
  const draw = (x, kernel, lengthscale, random) => {
    const its = prior(x, { kernel, lengthscale, noiseVariance: 0 });
    for (let n = 0; n < x.length; n++) {
      const variances = its.covariance.map((row, i) => row[i]), most = max(...variances), arm = variances.indexOf(most);
      if (most <= 1e-12) break;
      update(its, arm, its.mean[arm] + sqrt(most) * normal(random));
    }
    return its.mean;
  };

  // What two players meet: a draw f, standard normal noise by round, and random ranks for ties.
  const drawn = (x, { kernel, lengthscale, noiseSd }, horizon, random) => ({
    x, noiseSd, f: draw(x, kernel, lengthscale, random),
    noise: Array.from({ length: horizon }, () => normal(random)), rank: x.map(() => random()),
  });

  return { kernels, policies, play, generator, draw, drawn };
})();
