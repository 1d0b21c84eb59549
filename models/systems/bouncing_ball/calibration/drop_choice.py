r"""Which onsets of a recording are one ball's: the drops that a calibration rests on.

The best chain of the recording must be a ball rather than something else (`ball_evidence`):

    log odds >= 0       where the recording has other onsets as well, which show something else
    log odds >= -SURE   where the chain is all there is: the first bounces of a ball, or chance

Below 0 the answer is weak, and mostly the prior. Every other chain joins the best one if the ball
of the first explains it better than clutter does, and is set aside otherwise; so is one that is
another once more, as where a part of a recording was put in twice (`repeated_drops`).

Of onsets that sound alike (`alike_onsets`), the kind whose best chain beats its reverse by most is
judged as well, and the choice with the greater odds of a ball stands.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from ricochet.models.sound.onsets import Onsets
from ricochet.models.systems.bouncing_ball.calibration import times_posterior
from ricochet.models.systems.bouncing_ball.calibration.drop_times import Drop
from ricochet.models.systems.bouncing_ball.calibration.times_criticism import BareFinding
from ricochet.models.systems.bouncing_ball.calibration.times_posterior import Posterior
from ricochet.models.systems.bouncing_ball.chains import parameters
from ricochet.models.systems.bouncing_ball.listening import ball_evidence, bounce_chains
from ricochet.models.systems.bouncing_ball.listening.ball_evidence import Evidence
from ricochet.models.systems.bouncing_ball.listening.bounce_chains import Chain, interval_ratios
from ricochet.models.systems.bouncing_ball.listening.interval_law import Law
from ricochet.models.systems.bouncing_ball.listening.repeated_drops import CLOSE, are_copies
from ricochet.models.systems.bouncing_ball.restitution_laws import REFERENCE_SPEED

BARE = Law(scatters=(0.004, 0.016, 0.05), shares=(0.55, 0.3, 0.15))
"""Chains of more scatter are threaded through anything: nothing but times supports them here."""
SURE = 5.0
"""Log odds of a ball from which an answer is not called weak, nats: 99.3 %; below -SURE even a
chain that is all of a recording is refused."""
ENOUGH = 5
"""Bounces of one drop from which an answer is not called weak."""


@dataclass(frozen=True)
class Choice:
    """The bounces that are used.

    Attributes:
        drops: In order of time.
        evidence: That of a ball in the best drop, then in those that joined it; empty where it was
            not asked for.
        findings: About the chains.
        of_best: Posterior of the ball by its best drop alone.
        copies: Drops that are one of those once more, and are not used.
    """

    drops: tuple[Drop, ...]
    evidence: tuple[Evidence, ...]
    findings: tuple[BareFinding, ...]
    of_best: Posterior
    copies: tuple[Drop, ...] = ()

    def posterior(self, drag: tuple[float, float]) -> Posterior:
        """Return the posterior of the ball by all its drops, given that of the choice's drag."""
        return self.of_best if len(self.drops) == 1 else times_posterior.infer(self.drops, drag)

    @property
    def log_odds(self) -> float:
        """Return the log odds of a ball in the best drop, nats."""
        return self.evidence[0].log_odds


class NoBallError(ValueError):
    """There is no ball in the recording; the text says what was found."""


def choose(
    onsets: Onsets,
    alike: Sequence[Onsets] = (),
    drag: tuple[float, float] = parameters.UNKNOWN_DRAG,
) -> Choice:
    """Return the drops of the ball.

    Args:
        alike: Onsets of the same recording that sound alike, one entry a kind of click.
        drag: Centre and spread of the prior of log drag, 1/m.

    Raises:
        NoBallError: If no chain of onsets is a ball's rather than something else's.
    """
    second = _second(alike, drag)
    try:
        first = _chosen(onsets, drag)
    except NoBallError:
        if second is None:
            raise
        return second
    return first if second is None or second.log_odds < first.log_odds else second


def _second(alike: Sequence[Onsets], drag: tuple[float, float]) -> Choice | None:
    """Return the choice from the kind of click that promises most, None where that is no ball."""
    if not alike:
        return None
    try:
        return _chosen(max(alike, key=_promise), drag)
    except NoBallError:
        return None


def _promise(onsets: Onsets) -> float:
    """Return by how much the best chain beats that of the onsets in reverse, nats."""
    mirrored = ball_evidence.reversed_in_time(onsets)
    forwards, backwards = (bounce_chains.best_score(each, BARE) for each in (onsets, mirrored))
    return forwards - max(backwards, 0.0)


def _chosen(onsets: Onsets, drag: tuple[float, float]) -> Choice:
    """Return the drops of the ball, the best one first to be judged, in order of time."""
    chains = sorted(bounce_chains.find_chains(onsets, law=BARE), key=lambda chain: -chain.score)
    if not chains:
        raise NoBallError(f"{len(onsets.times)} onsets, no chain of bounces among them")
    mirrored = bounce_chains.find_chains(ball_evidence.reversed_in_time(onsets), law=BARE)
    backwards = max((chain.score for chain in mirrored), default=0.0)
    (best, *others), copies = _without_copies(chains)
    posterior = times_posterior.infer([_drop(best)], drag)
    evidence = ball_evidence.weigh(onsets, best, posterior.log_evidence, backwards=backwards)
    _refuse(onsets, best, evidence)
    kept, weighed, findings = [best], [evidence], []
    for chain in others:
        likely = times_posterior.predictive(_drop(chain), posterior)
        shared = ball_evidence.weigh(onsets, chain, likely, backwards=backwards)
        if shared.log_odds > 0.0:
            kept.append(chain)
            weighed.append(shared)
        elif len(chain.times) >= ENOUGH and chain.score > backwards:
            alone = times_posterior.infer([_drop(chain)], drag).log_evidence
            own = ball_evidence.weigh(onsets, chain, alone, backwards=backwards)
            if own.log_odds > SURE:
                findings.append(_another(chain, posterior, alone - likely))
    if weak := _weakness(best, evidence):
        findings.append(weak)
    again = [(copy, known) for copy, known in copies if any(known is each for each in kept)]
    findings += [_repeated(copy, known) for copy, known in again]
    order = sorted(range(len(kept)), key=lambda index: float(kept[index].times[0]))
    drops = tuple(_drop(kept[index]) for index in order)
    spare = tuple(_drop(copy) for copy, _ in again)
    return Choice(drops, (evidence, *weighed[1:]), tuple(findings), posterior, spare)


def _without_copies(chains: Sequence[Chain]) -> tuple[list[Chain], list[tuple[Chain, Chain]]]:
    """Return the chains that are no copies of one before, and each copy with what it is one of."""
    kept: list[Chain] = []
    copies = []
    for chain in chains:
        known = next((each for each in kept if are_copies(each.times, chain.times)), None)
        if known is None:
            kept.append(chain)
        else:
            copies.append((chain, known))
    return kept, copies


def _repeated(chain: Chain, known: Chain) -> BareFinding:
    sentence = (
        f"Bounces of the drop from {chain.times[0]:.2f} s on come after the same times as of the "
        f"one from {known.times[0]:.2f} s on, to {1e6 * CLOSE:.0f} microseconds: they count once."
    )
    return BareFinding("repeated", sentence, 0.0, ())


def _drop(chain: Chain) -> Drop:
    return Drop(chain.times, chain.time_sd, chain.missing)


def _refuse(onsets: Onsets, chain: Chain, evidence: Evidence) -> None:
    """Refuse a chain that something else explains better, or that is one backwards."""
    said = f"{len(onsets.times)} onsets, at best {len(chain.times)} in a row like bounces"
    if evidence.backwards >= evidence.score:
        raise NoBallError(f"{said}, and a better row when it is played backwards")
    nothing_else = len(onsets.times) == len(chain.times)
    if evidence.log_odds < (-SURE if nothing_else else 0.0):
        raise NoBallError(f"{said}, better explained by {evidence.likeliest}")


def _weakness(chain: Chain, evidence: Evidence) -> BareFinding | None:
    """Say that the evidence is weak."""
    chance = float(special.expit(-evidence.log_odds))
    few, unsure = len(chain.times) < ENOUGH, evidence.log_odds < SURE
    if not (few or unsure):
        return None
    why = [f"{len(chain.times)} bounces"] * few
    why += [f"{chance:.1%} for {evidence.likeliest}"] * unsure
    sentence = (
        f"The evidence is weak ({'; '.join(why)}): record the ball again, alone, from its first "
        "bounce to its last."
    )
    return BareFinding("weak", sentence, chance, (0,))


def _another(chain: Chain, posterior: Posterior, apart: float) -> BareFinding:
    median = float(np.median(interval_ratios(chain.times, chain.missing)))
    at = float((posterior.weights * posterior.restitution(REFERENCE_SPEED)).sum())
    sentence = (
        f"A drop from {chain.times[0]:.2f} s on, {len(chain.times)} bounces with a ratio of "
        f"{median:.4f}, does not fit the restitution {at:.4f} of the others and is left out: "
        "record one ball on one surface at a time."
    )
    return BareFinding("disagreement", sentence, float(np.exp(-max(apart, 0.0))), ())
