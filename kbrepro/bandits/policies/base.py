"""What all policies share: `ask` for an arm, `tell` its observation, and one rule for ties.

Arms within 1e-10 (unit + |max|) of the maximum are tied, and a given order decides; the unit is
that of the index, so that rewards in any unit give the same arms. Indices are of rewards less the
`level` of the prior mean, so that a constant in both changes no arm. Exact equality is never
required: floating-point ties do not survive a change of BLAS.

A policy owns its generator: save it, `pickle.dumps(policy)`, and it goes on as if nothing had
happened. A policy that is told earlier arms and rewards before it is first asked pulls what the
saved one would, with two limits: a rule that draws needs the generator's state of that round, and
ties fall to the lowest arm, since the order that was drawn in round 1 is not known. Policies that
must be saved say so.
"""

import copy
import inspect
import math
import warnings
from collections.abc import Callable, Sequence
from functools import cache, partial
from importlib.metadata import version
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.random import Generator

from kbrepro import checks
from kbrepro.bandits.kernels import quiet
from kbrepro.bandits.posterior import (
    AfterPending,
    ExactPosterior,
    LatticePosterior,
    exact_posterior,
    level_of,
)
from kbrepro.bandits.problems import Model
from kbrepro.typing import Array, Conditioned, Integers

TOLERANCE = 1e-10
#: Arguments that a policy may take, of a model its `mean`.
EVERYTHING: tuple[str, ...] = ("allowed", "n", "pending", "noise_variance", "mean")
#: A reward so many standard deviations from its prior mean does not fit the model.
FAR = 10.0

#: What a pickle of a policy has besides its attributes: the version of this package.
SAVED_BY = "saved by kbrepro"
#: Beyond a prior mean of so many prior standard deviations doubles keep less than seven digits of
#: one.
HIGH = 1e9
#: Rewards that after so many pulls all lie this close to their prior mean, in standard deviations,
#: do not fit it either.
FEW_PULLS, CLOSE = 10, 1e-3
#: A seed, None for one that nobody knows, or a generator that a policy draws from and owns.
Seed = int | Generator | None


def best_arm(
    index: Array, rank: Integers | None = None, unit: float = 1.0, level: float = 0.0
) -> int:
    """Return the arm with the largest index (A,); among tied arms that of lowest `rank` (A,), else
    of lowest number.

    `unit` is the unit of the index: the prior standard deviation of an index in units of reward, 1
    of a logarithm. The maximum counts as its distance to 0 or to `level`, whichever is nearer: an
    index may include that constant or not. Raises ValueError if an index is NaN.
    """
    top = float(index.max())
    if math.isnan(top):
        raise ValueError(
            f"index[{int(np.isnan(index).argmax())}] = nan is not allowed: index must not be NaN"
        )
    slack = 0.0 if math.isinf(top) else TOLERANCE * (unit + min(abs(top), abs(top - level)))
    (tied,) = (index >= top - slack).nonzero()
    return int(tied[0] if rank is None else tied[rank[tied].argmin()])


class History(NamedTuple):
    """The pulls of a policy; a noise variance of None is that of the model."""

    arms: list[int]
    rewards: list[Any]
    noise_variances: list[float | None]


#: Arm, observation and noise variance, None for that of the model.
Pull = tuple[int, object, float | None]


#: Functions `learn` -> all that they change: told the history anew, they make the same of it.
LEARNED: dict[Callable[..., None], tuple[str, ...]] = {}


def learns(*names: str) -> Callable[..., Callable[..., None]]:
    """Say that a `learn` changes the attributes of these names alone, that what `ask` changes has
    no part in it, and that it draws from no generator but one made with the policy.
    """

    def register(learn: Callable[..., None]) -> Callable[..., None]:
        LEARNED[learn] = names
        return learn

    return register


def takes_rng(make: Callable[..., object]) -> bool:
    """Return whether a policy is made with `rng=...`; the `rng` of another is set afterwards."""
    parameters = inspect.signature(getattr(make, "func", make)).parameters.values()
    return any(one.name == "rng" or one.kind is one.VAR_KEYWORD for one in parameters)


@cache
def _version() -> str:
    return version("kbrepro")


class AskTell(checks.Changing):
    """What is the same in all policies: the arguments of `ask` and `tell`, the history, and another
    model.

    A subclass has a `model`, a generator `rng` and the round `t`, chooses one arm in `choose`, and
    takes in one observation in `learn`. `takes` names the arguments that it understands; others are
    refused. Where `learn` fails or is interrupted, the next use finds the policy as it was: what
    `learns` names is made anew from the history; without it all that is `checks.Changing` is copied
    before each `tell`, which is slower.
    """

    shared: ClassVar[tuple[str, ...]] = ("rng", "_first_rng", "_pulls")
    takes: tuple[str, ...] = ()
    model: Any
    rng: Generator
    t: int
    _pulls: list[Pull]
    _allowed: Integers | None
    _waiting: list[int]
    _rank: Integers | None
    _first_asked: int
    _first_rng: Generator
    _made_with: tuple[tuple[object, ...], dict[str, object]]

    def __new__(cls, model: object = None, *arguments: object, **settings: object) -> Self:
        policy = super().__new__(cls)
        policy._pulls, policy._waiting = [], []
        policy._allowed, policy._rank, policy._first_asked = None, None, 0
        policy._made_with = arguments, settings
        return policy

    def start(self, model: Any, rng: Seed) -> None:
        """Take in model and generator; ValueError on a prior mean that the policy does not take."""
        self._refuse(mean=model.mean if np.any(getattr(model, "mean", 0.0)) else None)
        self.model, self.rng, self.t = model, checks.seeded(rng=rng), 1
        self._first_rng = copy.deepcopy(self.rng)

    def choose(self) -> int:
        """Return the arm to pull."""
        raise NotImplementedError

    def learn(self, arm: int, observation: Any) -> None:
        """Take in what one pull of `arm` gave."""
        raise NotImplementedError

    def ask(self, n: int = 1, *, allowed: object = None, pending: object = None) -> Any:
        """Return the arm to pull, an int, or for n > 1 a list of n arms to pull in parallel.

        `allowed` are the arms to choose from, as a mask (A,) of bools or as arm numbers; `pending`
        the arms whose rewards are not known yet. UCB, EI and the variance-only rule use the
        variance that is left after pending pulls, with the mean as it is, and then after each arm
        of the batch: GP-BUCB (Desautels, Krause & Burdick 2014), whose theorem multiplies the width
        by exp(C), C the most that pending pulls tell of f (nats); here the width stays. For EI that
        is the kriging believer (Ginsbourger, Le Riche & Carraro 2010). Thompson sampling draws anew
        for each arm, whatever is pending; PIMS and GP-EIMS draw a new maximum for each, and use the
        variance left, too. Raises ValueError on an argument that the policy does not take,
        IndexError on an arm out of range.
        """
        model = self.model  # a policy whose `tell` was interrupted is put back first
        if type(n) is int and n == 1 and allowed is None and pending is None:
            return self.choose()
        checks.positive_int(n=n)
        self._refuse(n=None if n == 1 else n, allowed=allowed, pending=pending)
        n_arms, waiting = model.n_arms, list[int]()
        if pending is not None:
            waiting += checks.chosen(n_arms, "pending", pending, least=0).tolist()
        asking = object.__new__(type(self))  # a copy: nobody else sees what is allowed and pending
        among = checks.chosen(n_arms, "allowed", allowed, once=True)
        vars(asking).update(vars(self), _waiting=waiting, _allowed=among)
        before = dict(vars(asking))
        try:
            arms = asking._batch(int(n)) if n > 1 or waiting else [asking.choose()]
        finally:  # what `choose` keeps, such as the order of ties
            for name, value in vars(asking).items():
                if value is not before.get(name) and not isinstance(value, AfterPending):
                    setattr(self, name, value)
        return arms[0] if n == 1 else arms

    def tell(self, arms: object, rewards: object, noise_variance: object = None) -> None:
        """Take in what a pull of an arm gave, or what pulls of several arms gave, one reward each.

        `noise_variance`, one or one for each, if it is another than the model's, which None stands
        for. Rewards True and False are 1 and 0. Raises IndexError on a bad arm, ValueError on a
        reward that is no finite number, or on a noise variance that is not above 0 or not taken;
        after any error, and an interrupt, the policy is as it was.
        """
        pulls = self._looked_at(arms, rewards, noise_variance)
        before, state, n = vars(self), None, len(self._pulls)
        if type(self).learn not in LEARNED:
            before, state = vars(self.clone()), self.rng.bit_generator.state
        try:
            self._learn_all(pulls)
            self._pulls.extend(pulls)
        except BaseException:  # no call here, at which somebody could interrupt again
            self.__dict__ = {"_before": (before, state, n)}
            raise

    def _learn_all(self, pulls: Sequence[Pull]) -> None:
        learn: Any = self.learn
        for arm, observation, noise in pulls:
            learn(arm, observation, *([] if noise is None else [noise]))

    def __getattr__(self, name: str) -> Any:
        """Look for what is missing since a `tell` has failed: put the policy back first."""
        if "_before" not in vars(self):
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        before, state, n = vars(self)["_before"]
        if state is None:
            # first: there may be no memory for both
            before.update(dict.fromkeys(LEARNED[type(self).learn]))
            before = self._told_anew(before)
        else:
            before["rng"].bit_generator.state = state
            del before["_pulls"][n:]
        self.__dict__ = before
        return getattr(self, name)

    def _told_anew(self, before: dict[str, Any]) -> dict[str, Any]:
        """Return attributes with what `learn` changes made anew from the history."""
        old = object.__new__(type(self))
        vars(old).update(before)
        with warnings.catch_warnings():  # which were said
            warnings.simplefilter("ignore")
            policy = old._made_again(old.model, copy.deepcopy(old._first_rng))
            policy._learn_all(old._pulls)
        return before | {name: getattr(policy, name) for name in LEARNED[type(self).learn]}

    def _made_again(self, model: object, rng: Generator) -> Self:
        """Return a new policy of this class with its settings."""
        arguments, settings = self._made_with
        if takes_rng(type(self)):
            return type(self)(model, *arguments, **settings | {"rng": rng})
        policy = type(self)(model, *arguments, **settings)
        policy.rng = rng
        return policy

    def _looked_at(self, arms: Any, rewards: Any, noise_variance: object) -> list[Pull]:
        """Every pull, in Python's numbers; raises as `tell`. A model may say by `observed` what a
        pull gives.
        """
        n_arms, observed = self.model.n_arms, getattr(self.model, "observed", None)
        plain = type(arms) is int and 0 <= arms < n_arms
        plain = plain and noise_variance is None and observed is None
        if plain and isinstance(rewards, float) and math.isfinite(rewards):  # as most are: fast
            return [(arms, float(rewards), None)]
        self._refuse(noise_variance=noise_variance)
        one = not hasattr(arms, "__len__") or getattr(arms, "ndim", 1) == 0
        pulled = checks.chosen(n_arms, "arms", [arms] if one else arms, least=0, flags=False)
        n = len(pulled)
        if observed and (one or isinstance(rewards, list | tuple | np.ndarray)):
            seen = [observed(reward) for reward in ([rewards] if one else rewards)]
        else:
            found = checks.array("rewards", rewards, None if one else 1)
            seen = found.ravel().tolist()
            if one and len(seen) != 1:
                raise ValueError(
                    f"rewards has shape {found.shape}: it must be one number, like arms"
                )
        if len(seen) != n:
            raise checks.refused(
                "rewards",
                rewards,
                f"a list of {n}, one for each of arms; an arm is its number, not its point",
            )
        noises = checks.noise_variances(n, noise_variance)
        return list(zip(pulled.tolist(), seen, noises, strict=True))

    @property
    def history(self) -> History:
        """All pulls so far, as Python numbers: new lists, which `tell` and `fit` take."""
        columns = zip(*self._pulls, strict=True) if self._pulls else ([], [], [])
        return History(*map(list, columns))

    def __getstate__(self) -> dict[str, object]:
        saved = {"_pulls": self._pulls, SAVED_BY: _version()}
        return vars(self) | saved

    def __setstate__(self, state: dict[str, object]) -> None:
        saved_by, now = state.pop(SAVED_BY, None), _version()
        message = (
            f"this {type(self).__name__} was saved by kbrepro {saved_by or '0.3.0 or earlier'};"
            f" kbrepro {now} "
        )
        if saved_by is None:
            raise ValueError(
                message
                + "cannot load it: give `tell` of a new policy the arms and rewards of its history"
            )
        if saved_by != now:
            warnings.warn(
                message + "may pull other arms: policy.with_model(policy.model) makes it anew",
                stacklevel=2,
            )
        vars(self).update(state)

    def with_model(self, model: object) -> Self:
        """Return the same policy with another model and the same history; its generator goes on
        from this state.

        The order of ties stays if the number of arms does. A model with more arms keeps the numbers
        of the old ones; ValueError on one with fewer: an arm that is withdrawn is not `allowed`.
        """
        policy = self._made_again(model, copy.deepcopy(self.rng))
        n, before = policy.model.n_arms, self.model.n_arms
        if n < before:
            raise ValueError(
                f"model has {n} arms: it must have at least the {before} arms of the old model, in"
                " the same order; ask(allowed=...) leaves out arms that are withdrawn"
            )
        if n == before:
            policy._rank = self._rank
        for arm, reward, noise in self._pulls:
            policy.tell(arm, reward, noise_variance=noise)
        return policy

    def ties(self) -> Integers:
        """Return the order of ties, (A,): one permutation, or if first asked after round 1 the
        arms' numbers.
        """
        self._first_asked = self._first_asked or self.t
        if self._rank is None:
            n = self.model.n_arms
            self._rank = self.rng.permutation(n) if self._first_asked == 1 else np.arange(n)
            self._rank.setflags(write=False)
        return self._rank

    def any_arm(self) -> int:
        """Return one of the arms that are allowed and, while there are such, not pending,
        uniformly.
        """
        allowed = np.arange(self.model.n_arms) if self._allowed is None else self._allowed
        free = np.setdiff1d(allowed, self._waiting) if self._waiting else allowed
        return int(self.rng.choice(free if len(free) else allowed))

    def _batch(self, n: int) -> list[int]:
        return [self.choose() for _ in range(n)]

    def _refuse(self, **arguments: object) -> None:
        for name, value in arguments.items():
            if value is not None and name not in self.takes:
                raise ValueError(
                    f"{name} = {checks.shown(value)} is not allowed: {type(self).__name__} takes no"
                    " such argument"
                )


class IndexPolicy(AskTell):
    """Pulls the arm with the largest `index`; one permutation, the first thing drawn from `rng`,
    breaks ties.

    Made from a `model`, the horizon if it is known, and `rng`, a seed or a generator. With
    `random_opening` the first arm is uniformly random instead. A subclass gives the index, its
    `unit` (see `best_arm`) and its `prior`. If it is first asked after round 1, it draws no
    permutation. `level` is a constant that the index may include.
    """

    takes: tuple[str, ...] = ("allowed",)
    posterior: Conditioned
    unit: float = 1.0
    level: float = 0.0
    #: Whether arms of large index are likely to be chosen soon: not where the index is drawn anew.
    looks_ahead = True

    def __init__(
        self,
        model: object,
        horizon: int | None = None,
        *,
        rng: Seed = 0,
        random_opening: bool = False,
    ) -> None:
        checks.having(
            "a model, such as Model(points, kernel, noise_variance)", "n_arms", model=model
        )
        if horizon is not None:
            checks.positive_int(horizon=horizon)
        self.start(model, rng)
        self.random_opening = random_opening
        self.posterior = self.prior(horizon)

    def prior(self, horizon: int | None) -> Conditioned:
        """Return the posterior before the first pull."""
        raise NotImplementedError

    def index(self) -> Array:
        """Return the index of every arm in this round, (A,)."""
        raise NotImplementedError

    def choose(self) -> int:
        """Return the arm to pull; ValueError on an index that is not one number an arm, or NaN."""
        if self.random_opening and self.t == 1:
            self._first_asked = 1
            return self.any_arm()
        rank, index = self.ties(), np.asarray(self.index())
        if index.shape != rank.shape:
            raise ValueError(f"index has shape {index.shape}: it must be (A,) = ({len(rank)},)")
        allowed = self._allowed
        if allowed is None:
            arm = best_arm(index, rank, self.unit, self.level)
        else:
            place = best_arm(index[allowed], rank[allowed], self.unit, self.level)
            arm = int(allowed[place])
        if self.looks_ahead and isinstance(self.posterior, LatticePosterior):
            self.posterior.look_ahead(arm, index)
        return arm

    @learns("posterior", "t")
    def learn(self, arm: int, observation: Any) -> None:
        """Take in what a pull of `arm` gave; IndexError on a bad arm, ValueError on a NaN."""
        self.posterior.update(arm, observation)
        self.t += 1


class Policy(IndexPolicy):
    """An acquisition rule for plain problems: an `IndexPolicy` with the exact posterior of all
    arms.

    `form` is one of those in `posterior`; by default `exact_posterior` chooses it by size. The unit
    of the index is the largest prior standard deviation unless a subclass says otherwise. With
    `warn` one warning is given if a reward lies FAR or more standard deviations from its prior
    mean; `run_trials`, whose rewards are made, wants none.

    `level` is the middle one of the prior means. The rules here rank `centred`, the posterior mean
    less that level: the arms are those of rewards and prior mean less a constant of up to HIGH
    prior standard deviations; a warning is given beyond.
    """

    takes: tuple[str, ...] = ("allowed", "noise_variance", "mean")
    model: Model
    posterior: Any

    def __init__(
        self,
        model: Model,
        horizon: int | None = None,
        *,
        form: Callable[..., ExactPosterior] | None = None,
        warn: bool = True,
        **settings: Any,
    ) -> None:
        checks.having("a Model", "n_arms", "points", "kernel", "noise_variance", model=model)
        if form is not None:
            checks.function(form=form)
        self.form, self.warn, self._farthest = form, warn, 0.0
        self._prior_mean = checks.per_arm(model.n_arms, model.mean)
        prior_variance = model.kernel.diag(model.points)
        self._reward_sd = np.sqrt(prior_variance + model.noise_variance)
        self.prior_sd = float(np.sqrt(prior_variance.max()))
        self.level = level_of(self._prior_mean)
        if abs(self.level) > HIGH * self.prior_sd:
            warnings.warn(
                f"mean = {self.level:.4g} is more than {HIGH:.0e} prior standard deviations"
                f" ({self.prior_sd:.4g}), so rewards lose digits: subtract a constant from mean and"
                " from all rewards",
                stacklevel=3,
            )
        super().__init__(model, horizon, **settings)

    @property
    def unit(self) -> float:  # type: ignore[override]  # read only
        return self.prior_sd

    def centred(self) -> Array:
        """Return the posterior mean less `level`, (A,)."""
        return self.posterior.centred if self.level else self.posterior.mean

    def prior(self, horizon: int | None) -> Conditioned:
        return self.made(self.form or partial(exact_posterior, horizon=horizon))

    def made(self, form: Callable[..., object]) -> Any:
        """Return this form of the model's posterior before the first pull."""
        return form(
            self.model.kernel, self.model.points, self.model.noise_variance, mean=self.model.mean
        )

    @learns("posterior", "t", "_farthest")
    def learn(self, arm: int, observation: float, noise_variance: float | None = None) -> None:
        """Take in what a pull of `arm` gave; IndexError on a bad arm, ValueError on a NaN."""
        if self.warn:
            self._doubt(arm, observation)
        noise = [] if noise_variance is None else [noise_variance]
        self.posterior.update(arm, observation, *noise)
        self.t += 1

    def _doubt(self, arm: int, observation: float) -> None:
        """Warn, once, of rewards that do not fit the prior: first, since a warning may be an
        error.
        """
        mean, sd = self._prior_mean[arm], self._reward_sd[arm]
        off = abs(observation - mean) / sd
        self._farthest = max(self._farthest, off)
        said = ""
        if off >= FAR:
            said = (
                f"reward {observation:.4g} of arm {arm} lies {off:.3g} standard deviations from its"
                f" prior mean {mean:.4g}: set `mean` of Model (model.fit does not) and `variance`"
                " of its kernel to fit"
            )
        elif self.t == FEW_PULLS and 0 < self._farthest < CLOSE:
            said = (
                f"{FEW_PULLS} rewards lie within {self._farthest:.1g} standard deviations of their"
                " prior mean: set `variance` of the kernel and `noise_variance` of Model to fit"
            )
        if said:
            warnings.warn(said, stacklevel=5)
            self.warn = False

    def recommend(self, *, allowed: object = None) -> int:
        """Return the arm of largest posterior mean, among those that are allowed (see `ask`)."""
        arms = checks.chosen(self.model.n_arms, "allowed", allowed, once=True)
        return int(arms[best_arm(self.centred()[arms], unit=self.prior_sd)])

    def gap(self, width: Callable[[Self], float] | None = None, *, allowed: object = None) -> float:
        """Return the most that the recommended arm may lose while the band mean +- width sd holds,
        at least 0.

        The largest upper bound of any other arm less its lower bound: stop when it is small enough
        (LUCB, Kalyanakrishnan et al. 2012). By default with the policy's own `width`; ValueError if
        it has none and none is given.
        """
        chosen: Any = width or getattr(self, "width", None)
        checks.width(width=chosen)
        arms = checks.chosen(self.model.n_arms, "allowed", allowed, once=True)
        best = self.recommend(allowed=arms)
        mean, reach = self.centred(), chosen(self) * self.posterior.sd
        others, lower = arms[arms != best], (mean - reach)[best]
        return float((mean + reach)[others].max(initial=lower) - lower)

    @quiet
    def _batch(self, n: int) -> list[int]:
        # of the copy that asks
        self.posterior = AfterPending(self.posterior, self._waiting, room=n)
        for _ in range(n):
            arm = self.choose()
            self.posterior.pull(arm)
            self._waiting.append(arm)
        return self._waiting[-n:]
