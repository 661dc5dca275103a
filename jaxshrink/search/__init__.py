"""Delta debugging over edits: ordered, parallel, and the same for any number of workers."""

from jaxshrink.search.fixpoint import Fixpoint as Fixpoint
from jaxshrink.search.judge import Judge as Judge
from jaxshrink.search.reduce import Verdicts as Verdicts
from jaxshrink.search.reduce import reduce as reduce
