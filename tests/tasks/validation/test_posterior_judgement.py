"""Judging anybody's posterior: what is refused, how often, and files that cannot be used."""

import json
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from ricochet.flows import cli
from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.validation import posterior_judgement, posterior_samples, user_simulator

SIMULATOR = "def simulate(theta, draw):\n    return theta + 0.5 * draw.normal(size=len(theta))\n"


def arrays(seed: int, *, divisor: float = 1.0, cases: int = 100) -> dict[str, np.ndarray]:
    """theta ~ N(0, I_2), data = theta + n / 2, and draws of N(0.8 data, 0.2 I / c)."""
    draw = np.random.default_rng(seed)
    truth = draw.normal(size=(cases, 2))
    data = truth + 0.5 * draw.normal(size=(cases, 2))
    spread = np.sqrt(0.2 / divisor) * draw.normal(size=(cases, 99, 2))
    return {"truth": truth, "draws": 0.8 * data[:, None] + spread, "data": data}


def files(folder: Path, content: dict[str, np.ndarray], simulator: str = SIMULATOR) -> list[str]:
    np.savez(folder / "samples.npz", **content)
    (folder / "simulator.py").write_text(simulator)
    words = ["judge", str(folder / "samples.npz"), "--simulator", str(folder / "simulator.py")]
    return [*words, "--replicates", "20", "--out", str(folder / "out")]


def test_a_right_posterior_is_accepted(tmp_path, capsys) -> None:
    assert cli.main(files(tmp_path, arrays(1))) == 0
    result = json.loads((tmp_path / "out" / "result.json").read_text())
    assert result["passed"] and result["schema"] == posterior_judgement.SCHEMA
    assert (tmp_path / "out" / "ranks.png").stat().st_size > 1000
    assert "accepted: 100 cases of 99 draws" in capsys.readouterr().out


def test_a_posterior_with_half_the_variance_is_refused_with_exit_1(
    tmp_path, capsys, without_pictures
) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(files(tmp_path, arrays(2, divisor=2.0)))
    assert ended.value.code == 1
    assert "FAIL" in capsys.readouterr().out
    assert json.loads((tmp_path / "out" / "result.json").read_text())["passed"] is False


def _joined(content: dict[str, np.ndarray], **others: np.ndarray) -> dict[str, np.ndarray]:
    return {name: np.concatenate((one, others.get(name, one))) for name, one in content.items()}


@pytest.mark.parametrize("stored", [("truth", "draws", "data"), ("truth", "draws")])
def test_cases_that_count_twice_are_refused(tmp_path, stored) -> None:
    """Joined to itself, a file has a posterior accepted with a power that it does not have."""
    once = {name: 1e3 * arrays(1)[name] for name in stored}
    single = {name: each.astype(np.float32) for name, each in once.items() if name != "draws"}
    for content in (_joined(once), _joined(once, **single)):
        with pytest.raises(BadInput, match=r"found 100 of 200 cases that are copies of others"):
            posterior_samples.read(Path(files(tmp_path, content)[1]))
    assert len(posterior_samples.read(Path(files(tmp_path, once)[1])).truth) == 100


def test_other_draws_of_the_same_cases_are_refused(tmp_path) -> None:
    content = _joined(arrays(1), draws=arrays(1, divisor=1.1)["draws"])
    with pytest.raises(BadInput, match="copies of others"):
        posterior_samples.read(Path(files(tmp_path, content)[1]))


def test_cases_of_whole_numbers_may_agree(tmp_path) -> None:
    whole = {name: np.round(each) for name, each in arrays(1).items()}
    assert len(posterior_samples.read(Path(files(tmp_path, _joined(whole))[1])).truth) == 200


def test_the_table_of_power_refuses_what_the_checks_refuse() -> None:
    """Trial by trial, for posteriors of which some are refused and some are not."""
    draw, chance = np.random.default_rng(3), 0.02 / 7
    away = 1.15 * draw.standard_normal((25, 60, 2))
    joint = stats.chi2.cdf((away**2).sum(2), 2)
    ranks = np.concatenate((stats.norm.cdf(away), joint[..., None]), 2)
    quick = posterior_judgement.uneven(ranks, chance) | posterior_judgement.uncovered(joint, chance)
    full = []
    for rows in ranks:
        levels = dict(zip(("a", "b", "joint"), rows.T, strict=True))
        checks = posterior_judgement.checked(levels, chance=chance)
        full.append(not all(check.passed for check in checks))
    assert 0 < sum(full) < len(full)
    np.testing.assert_array_equal(quick, full)


def test_a_right_posterior_is_refused_in_at_most_two_percent() -> None:
    rows = posterior_judgement.power(100, 3, chance=0.02 / 8, draw=np.random.default_rng(4))
    assert rows[0].what == "right"
    assert rows[0].refused <= 0.02 + 4.0 * (0.02 * 0.98 / 500) ** 0.5  # four standard errors
    assert rows[1].refused < rows[3].refused <= rows[4].refused


@pytest.mark.parametrize(
    "change, said",
    [
        ({"truth": None}, "truth: found no array"),
        ({"draws": np.zeros((100, 99, 3))}, "shape (100, draw, 2)"),
        ({"draws": np.zeros((100, 5, 2))}, "20 cases of 20 draws or more"),
        ({"data": np.zeros((3, 2))}, "data: found shape (3, 2)"),
        ({"truth": np.full((100, 2), np.nan)}, "truth: found a value that is not finite"),
        ({"names": np.array(["a", "a"])}, "different names"),
        ({"names": np.array([0x110000, 0x61], "u4").view("U1")}, "a character that is none"),
        ({"extra": np.zeros(1)}, "unknown key 'extra'"),
        ({"truth": np.array([["x"]])}, "numbers"),
        ({"truth": np.array([[{}]], dtype=object)}, "expected numbers"),
    ],
)
def test_samples_that_cannot_be_used_are_refused_in_a_line(tmp_path, change, said) -> None:
    content = {name: value for name, value in (arrays(5) | change).items() if value is not None}
    np.savez(tmp_path / "samples.npz", **content)
    with pytest.raises(BadInput) as refused:
        posterior_samples.read(tmp_path / "samples.npz")
    assert said in str(refused.value)


def test_very_many_cases_or_numbers_are_refused_before_they_are_numbers(tmp_path) -> None:
    """A file of 1.5 MB, whose 20 million numbers have a byte each, took 14 GB."""
    for shape in ((10_001, 20, 1), (10_000, 20, 42)):
        small = {"truth": np.zeros(shape[::2], "u1"), "draws": np.zeros(shape, "u1")}
        np.savez(tmp_path / "samples.npz", **small)
        tracemalloc.start()
        with pytest.raises(BadInput, match=r"at most 10000 cases, and 8388608 numbers in all"):
            posterior_samples.read(tmp_path / "samples.npz")
        assert tracemalloc.get_traced_memory()[1] < 3e7
        tracemalloc.stop()


def test_very_many_data_or_long_names_are_refused_before_they_are_read(tmp_path) -> None:
    """133 million numbers of a byte in a file of 7 MB took 1.4 GB."""
    given = {"truth": np.zeros((20, 1), "u1"), "draws": np.zeros((20, 20, 1), "u1")}
    for name, value, said in (
        ("data", np.zeros((20, 500_000), "u1"), r"at most 8388608 numbers in all"),
        ("names", np.array(["x" * 1001]), r"at most <U1000"),
    ):
        np.savez(tmp_path / "samples.npz", **given, **{name: value})
        tracemalloc.start()
        with pytest.raises(BadInput, match=said):
            posterior_samples.read(tmp_path / "samples.npz")
        assert tracemalloc.get_traced_memory()[1] < 4e7
        tracemalloc.stop()


def test_very_many_new_data_are_refused(monkeypatch) -> None:
    monkeypatch.setattr(user_simulator, "MOST_NUMBERS", 100 * 20 * 2 - 1)
    given = arrays(5)
    samples = posterior_samples.Samples(given["truth"], given["draws"], None, ("a", "b"))
    with pytest.raises(BadInput, match="4000 numbers of new data"):
        user_simulator.new_data(
            samples, lambda theta, draw: theta, replicates=20, draw=np.random.default_rng(0)
        )


@pytest.mark.proof
def test_power_is_the_same_in_whatever_pieces_it_is_found(monkeypatch) -> None:
    def found() -> tuple:
        draw = np.random.default_rng(0)
        return posterior_judgement.power(40, 3, chance=1e-3, draw=draw)

    whole = found()
    monkeypatch.setattr(posterior_judgement, "_NUMBERS", 40 * 3 * 7)
    assert found() == whole


def test_samples_that_would_unpack_to_too_much_are_refused(tmp_path, monkeypatch) -> None:
    np.savez_compressed(tmp_path / "samples.npz", **arrays(6))
    monkeypatch.setattr(posterior_samples, "LARGEST", 10_000)
    with pytest.raises(BadInput, match="at most 10000"):
        posterior_samples.read(tmp_path / "samples.npz")


def test_a_file_that_is_no_archive_is_refused(tmp_path) -> None:
    (tmp_path / "samples.npz").write_bytes(b"nothing")
    for path in (tmp_path / "samples.npz", tmp_path / "absent.npz"):
        with pytest.raises(BadInput, match="truth and draws"):
            posterior_samples.read(path)


@pytest.mark.parametrize(
    "text, said",
    [
        ("x = 1\n", "no function simulate"),
        ("raise KeyError('a')\n", "KeyError"),
        ("def simulate(theta, draw):\n    return 1 / 0\n", "ZeroDivisionError"),
        ("def simulate(theta, draw):\n    return [float('nan')]\n", "finite"),
        ("def simulate(theta, draw):\n    return theta[:1] if draw.random() < 0.5 else theta\n",
         "as many numbers"),
    ],
)  # fmt: skip
def test_simulators_that_cannot_be_used_are_refused_with_exit_2(
    tmp_path, capsys, text, said
) -> None:
    assert cli.main(files(tmp_path, arrays(7), text)) == 2
    assert said in capsys.readouterr().err


def test_a_simulator_gives_as_many_values_as_the_data_have(tmp_path, capsys) -> None:
    given = arrays(7)
    given["data"] = np.zeros((len(given["truth"]), 2))
    text = "def simulate(theta, draw):\n    return theta[:1]\n"
    assert cli.main(files(tmp_path, given, text)) == 2
    assert "simulate: found 1 values, expected 2, as data has" in capsys.readouterr().err


def test_new_data_are_simulated_at_the_truth_and_at_draws(tmp_path) -> None:
    files(tmp_path, arrays(8), "def simulate(theta, draw):\n    return theta\n")
    samples = posterior_samples.read(tmp_path / "samples.npz")
    simulate = user_simulator.load(tmp_path / "simulator.py")
    at_draws, at_truth = user_simulator.new_data(
        samples, simulate, replicates=25, draw=np.random.default_rng(0)
    )
    assert at_draws.shape == (100, 25, 2)
    np.testing.assert_array_equal(at_truth, samples.truth)
    np.testing.assert_array_equal(at_draws[:, 0], samples.draws[:, 0])
