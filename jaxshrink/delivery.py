"""From options to a written file: what the command line and the API share around the job itself."""

from __future__ import annotations

import dataclasses
import errno
from collections.abc import Callable

from jaxshrink import inputs, lowered
from jaxshrink.crash import internal_error
from jaxshrink.errors import JaxshrinkError, OutputError, UsageError
from jaxshrink.job import run
from jaxshrink.journal import Journal
from jaxshrink.options import Options, check_passes
from jaxshrink.outcome import Outcome
from jaxshrink.output import Output, header
from jaxshrink.passes import PASSES
from jaxshrink.progress import Progress
from jaxshrink.result import Result
from jaxshrink.scratch import sweep


def deliver(options: Options, progress: Progress, predicate: Callable[[Outcome], bool] | None = None) -> Result:
    """Do the job and write what comes out, with its header.

    Raises the errors of `jaxshrink.errors` and no others, except KeyboardInterrupt when it comes a second time.
    """
    try:
        return _deliver(options, progress, predicate)
    except JaxshrinkError:
        raise
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise OutputError(f"no space left on the disk for {error.filename or 'temporary files'}") from error
        raise internal_error(error, options) from error
    except Exception as error:
        raise internal_error(error, options) from error


def _deliver(options: Options, progress: Progress, predicate: Callable[[Outcome], bool] | None) -> Result:
    sweep()
    Journal.forget_old()
    check_passes(options, [each.name for each in PASSES])
    inputs.load(options.path)  # first: what the next line would say about a missing program is misleading
    output, beside = Output.of(options), _beside(options)
    result = run(options, progress, predicate)
    assert result.source is not None, "a job without a result raises"
    source = header(result) + result.source
    journal = Journal.of(options)
    try:
        output.write(source)
    except OutputError as error:
        raise OutputError(f"{error}; the program is kept as {journal.best}", result) from None
    journal.remove()
    result = dataclasses.replace(result, path=options.output)
    if beside is not None:
        result = _also(result, beside, progress)
    result = dataclasses.replace(result, source=source)
    progress.finished(result)
    return result


def _beside(options: Options) -> Output | None:
    """The place of what the result lowers, where that is asked for."""
    if "stablehlo" not in options.also:
        return None
    path = options.output.with_suffix(lowered.SUFFIX)
    if path == options.output:
        raise UsageError(f"{path} cannot be the result and what it lowers: give an --output with another suffix")
    return Output(path, options.path, options.force, lowered.is_ours)


def _also(result: Result, place: Output, progress: Progress) -> Result:
    """Write what the result lowers; where that is nothing, no file is left that tells of another result."""
    if result.lowered:
        place.write(lowered.document(result))
        progress.note(f"what it gives to the compiler, as StableHLO: {place.path}")
        return dataclasses.replace(result, also={"stablehlo": place.path})
    place.remove()
    why = "it did not fail again" if result.lowered is None else "nothing is compiled for what fails"
    progress.note(f"there is no StableHLO: {why}")
    return dataclasses.replace(result, also={"stablehlo": None})
