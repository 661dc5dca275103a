"""Which functions JAX compiles, and why again.

    from jaxshrink import recompiles

    with recompiles.watch() as watched:
        train()
    for function in watched.functions:
        print(function.name, function.compiles, function.advice)
    print(recompiles.table(watched))

`assert_compiles(function, times)` is for tests, and a fixture of pytest of the same name. Runs in the user's process,
on JAX 0.4.30 and newer.
"""

from jaxshrink.recompiles.counting import assert_compiles as assert_compiles
from jaxshrink.recompiles.data import Callee as Callee
from jaxshrink.recompiles.data import Difference as Difference
from jaxshrink.recompiles.data import Function as Function
from jaxshrink.recompiles.data import Leaf as Leaf
from jaxshrink.recompiles.data import Miss as Miss
from jaxshrink.recompiles.data import Seconds as Seconds
from jaxshrink.recompiles.data import Signature as Signature
from jaxshrink.recompiles.data import Static as Static
from jaxshrink.recompiles.data import Tree as Tree
from jaxshrink.recompiles.report import Report as Report
from jaxshrink.recompiles.table import table as table
from jaxshrink.recompiles.watching import watch as watch
