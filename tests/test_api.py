"""The API, the options and the result, around a job that is made up."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import jaxshrink
from jaxshrink.errors import InternalError, JaxshrinkError, OutputError, TargetError, Unreliable, UsageError
from jaxshrink.failure import Failure
from jaxshrink.journal import Journal
from jaxshrink.options import Options, check_passes
from jaxshrink.outcome import End, Outcome, Tier
from jaxshrink.output import is_ours
from jaxshrink.progress import Progress
from jaxshrink.result import OtherFailure, PassStats, Rejected, Result, Size, Stats

pytestmark = pytest.mark.slow  # and the same on each Python

FAILURE = Failure("exception", "TypeError", "no, (3,) and (4,)\nand more", "jax._src.lax:dot:12")
STATS = Stats(
    runs_by_tier={Tier.ABSTRACT: 7, Tier.COLD: 4},
    cached=2,
    rejected=Rejected(syntax=1, unbound=2, duplicate=3),
    seconds=1.23456,
    cold_seconds=0.9,
    jobs=2,
    passes=(PassStats("statements", 5, 1, 30, 0.25),),
    also_seen=(OtherFailure("ValueError", "other", 2),),
)
RESULT = Result(
    "reduced",
    "reduced from 22 to 4 tokens",
    source="import jax\njax.nope\n",
    input_path=Path("repro.py"),
    input_size=Size(22, 3, 80),
    failure=FAILURE,
    python="3.12.1",
    jax="0.10.2",
    jaxlib="0.10.2",
    stats=STATS,
)


@pytest.fixture
def job(monkeypatch: pytest.MonkeyPatch) -> list[Options]:
    """Stands for the job: it succeeds at once. The list of options that it was called with."""
    calls: list[Options] = []

    def run(options: Options, progress: Progress, predicate: object) -> Result:
        calls.append(options)
        Journal.of(options).save("best")
        return RESULT

    monkeypatch.setattr("jaxshrink.delivery.run", run)
    return calls


def fails_with(error: BaseException, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(options: Options, progress: Progress, predicate: object) -> Result:
        Journal.of(options).save("the best so far")
        raise error

    monkeypatch.setattr("jaxshrink.delivery.run", run)


# -- shrink


def test_shrink_writes_the_program_with_its_header(repro: Path, job: list[Options]) -> None:
    result = jaxshrink.shrink(repro)
    assert result.path == repro.with_name("repro.min.py")
    assert result.path.read_text() == result.source
    assert result.source == (
        "# TypeError: no, (3,) and (4,)\n"
        "# reduced by jaxshrink from 22 to 5 tokens (Python 3.12.1, jax 0.10.2, jaxlib 0.10.2)\n"
        "import jax\njax.nope\n"
    )
    assert is_ours(result.path)
    assert (result.status, result.failure, result.stats) == ("reduced", FAILURE, STATS)
    assert Journal.of(job[0]).load() is None


def test_shrink_passes_the_predicate_on(repro: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(options: Options, progress: Progress, predicate: Callable[[Outcome], bool]) -> Result:
        assert predicate(Outcome(End.EXIT, code=7))
        return RESULT

    monkeypatch.setattr("jaxshrink.delivery.run", run)
    assert jaxshrink.shrink(repro, lambda outcome: outcome.code == 7).status == "reduced"


def test_nothing_runs_where_the_result_could_not_be_written(repro: Path, job: list[Options]) -> None:
    with pytest.raises(OutputError):
        jaxshrink.shrink(repro, output=repro)
    with pytest.raises(UsageError, match=r"no pass 'statement': did you mean 'statements'\?"):
        jaxshrink.shrink(repro, skip_pass="statement")
    assert job == []


def test_mistakes_of_ours_keep_the_best_program_and_write_a_report(
    repro: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fails_with(ZeroDivisionError("oops"), monkeypatch)
    with pytest.raises(InternalError, match="internal error, ZeroDivisionError: oops; please report it") as raised:
        jaxshrink.shrink(repro)
    assert raised.value.best is not None
    assert raised.value.best.read_text() == "the best so far"
    (report,) = cache.glob("jaxshrink/crashes/*.txt")
    assert "ZeroDivisionError: oops" in report.read_text()
    assert str(report) in str(raised.value)
    assert not repro.with_name("repro.min.py").exists()


def test_full_disk_is_no_mistake_of_ours(repro: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fails_with(OSError(28, "No space left on device", "/tmp/x"), monkeypatch)
    with pytest.raises(OutputError, match="no space left on the disk for /tmp/x"):
        jaxshrink.shrink(repro)


def test_unreliable_where_what_held_does_not_hold_again(repro: Path) -> None:
    asked: list[Outcome] = []

    def first_time_only(outcome: Outcome) -> bool:
        asked.append(outcome)
        return len(asked) == 1

    with pytest.raises(Unreliable, match=r"repro\.py fails .*but"):
        jaxshrink.shrink(repro, first_time_only)
    assert not repro.with_name("repro.min.py").exists()


def test_errors_are_one_tree() -> None:
    errors = [getattr(jaxshrink, name) for name in jaxshrink.__all__ if isinstance(getattr(jaxshrink, name), type)]
    codes = {each.__name__: each.exit_code for each in errors if issubclass(each, JaxshrinkError)}
    assert codes == {
        "JaxshrinkError": 5,
        "UsageError": 2,
        "InputError": 2,
        "TargetError": 2,
        "OutputError": 2,
        "NotFailing": 3,
        "Unreliable": 4,
        "InternalError": 5,
        "Interrupted": 130,
    }


def test_import_is_light() -> None:
    code = "import sys, jaxshrink; print(*sys.modules)"
    loaded = subprocess.check_output([sys.executable, "-c", code], text=True).split()
    assert set(loaded).isdisjoint({"jax", "numpy", "libcst", "black", "rich", "click", "ast"})


def test_the_api_has_what_it_says() -> None:
    assert jaxshrink.Outcome is Outcome
    assert all(hasattr(jaxshrink, name) for name in jaxshrink.__all__)
    with pytest.raises(AttributeError, match="nothing"):
        _ = jaxshrink.nothing


# -- options


def test_defaults() -> None:
    options = Options.of("folder/repro.py", {})
    assert options.output == Path("folder/repro.min.py")
    assert options.python == Path(sys.executable)
    assert options.jobs == len(os.sched_getaffinity(0))
    assert (options.same, options.tier, options.timeout, options.args) == ("site", None, None, ())


def test_given() -> None:
    options = Options.of(
        "repro.py",
        {"env": {"A": "1=2"}, "args": ["-x"], "tier": "warm", "memory": 2, "only_pass": ["a", "b"], "skip_pass": "c"},
    )
    assert options.env == {"A": "1=2"}
    assert options.args == ("-x",)
    assert options.tier is Tier.WARM
    assert options.memory == 2.0
    assert (options.only_pass, options.skip_pass) == (("a", "b"), ("c",))


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"job": 2}, "no option 'job'"),
        ({"jobs": 0}, "jobs must be a whole number of 1 or more, not 0"),
        ({"jobs": 1.5}, "jobs must be"),
        ({"timeout": -1.0}, "timeout must be a number above 0"),
        ({"memory": float("nan")}, "memory must be a number above 0"),
        ({"time_limit": "soon"}, "time_limit must be a number above 0, not 'soon'"),
        ({"same": "similar"}, "same must be one of type, site, message, exact, not 'similar'"),
        ({"tier": "hot"}, "tier must be one of abstract, warm, cold"),
        ({"match": "("}, r"match must be a regular expression, and '\(' is none"),
        ({"env": {"": "1"}}, "cannot be the name of an environment variable"),
        ({"env": ["A=1"]}, "env must be a mapping"),
        ({"test": "no-such-command"}, "there is no command 'no-such-command'"),
        ({"test": "true", "match": "nan"}, "test and match do not go together"),
    ],
)
def test_options_that_make_no_sense(given: Any, complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint):
        Options.of("repro.py", given)


def test_interpreters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    python = tmp_path / "python"
    python.symlink_to(sys.executable)
    assert Options.of("repro.py", {"python": python}).python == python
    monkeypatch.setenv("PATH", str(tmp_path))
    assert Options.of("repro.py", {"python": "python"}).python == python
    monkeypatch.chdir(tmp_path)
    assert Options.of("repro.py", {"python": "./python"}).python == python
    with pytest.raises(TargetError, match="there is no interpreter 'pithon'"):
        Options.of("repro.py", {"python": "pithon"})


def test_unknown_passes() -> None:
    options = Options.of("repro.py", {"only_pass": ["inline"]})
    check_passes(options, ["inline", "ones"])
    with pytest.raises(UsageError, match="no pass 'inline': --list-passes shows them all"):
        check_passes(options, ["ones"])


# -- result


def test_report() -> None:
    report = RESULT.to_json()
    json.dumps(report)
    assert report == {
        "status": "reduced",
        "message": "reduced from 22 to 4 tokens",
        "input": {"path": "repro.py", "tokens": 22, "lines": 3, "bytes": 80},
        "output": {"path": None, "tokens": 5, "lines": 2, "bytes": 20, "source": "import jax\njax.nope\n"},
        "also": {},
        "failure": {
            "kind": "exception",
            "type": "TypeError",
            "message": "no, (3,) and (4,)\nand more",
            "site": "jax._src.lax:dot:12",
        },
        "runs": 11,
        "runs_by_tier": {"abstract": 7, "warm": 0, "cold": 4},
        "cached": 2,
        "rejected": {"syntax": 1, "unbound": 2, "duplicate": 3},
        "seconds": 1.235,
        "cold_seconds": 0.9,
        "jobs": 2,
        "python": "3.12.1",
        "jax": "0.10.2",
        "passes": [{"name": "statements", "tried": 5, "kept": 1, "tokens": 30, "seconds": 0.25}],
        "also_seen": [{"type": "ValueError", "message": "other", "count": 2}],
    }


def test_report_of_nothing() -> None:
    report = Result("error", "no").to_json()
    absent = [name for name, value in report.items() if value is None]
    assert absent == ["input", "output", "failure", "cold_seconds", "jobs", "python", "jax"]
    assert report["runs"] == 0


# -- journal


def test_journal_keeps_the_last(repro: Path) -> None:
    journal = Journal.of(Options.of(repro, {}))
    assert (journal.load(), journal.best) == (None, None)
    journal.save("one")
    journal.save("two", {"tier": "warm"})
    again = Journal.of(Options.of(repro, {"jobs": 7, "time_limit": 3}))
    entry = again.load()
    assert entry is not None
    assert (entry.best, entry.state) == ("two", {"tier": "warm"})
    journal.remove()
    assert journal.load() is None


def test_journal_is_of_one_program_and_one_set_of_options(repro: Path) -> None:
    options = Options.of(repro, {})
    Journal.of(options).save("x")
    assert Journal.of(dataclasses.replace(options, same="type")).load() is None
    repro.write_text("changed")
    assert Journal.of(options).load() is None


def test_journals_are_forgotten_after_a_month(repro: Path) -> None:
    old, new = (Journal.of(Options.of(repro, {"same": same})) for same in ("type", "site"))
    for journal, days in ((old, 31), (new, 29)):
        journal.save("x")
        then = time.time() - days * 24 * 3600
        os.utime(journal.folder, (then, then))
    Journal.forget_old()
    assert (old.load(), new.load() is None) == (None, False)


def test_journal_never_ends_a_job(repro: Path, cache: Path) -> None:
    (cache / "jaxshrink").write_text("a file where the folder should be")
    journal = Journal.of(Options.of(repro, {}))
    journal.save("x")
    assert journal.load() is None
    journal.remove()
