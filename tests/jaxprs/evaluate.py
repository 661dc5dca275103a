"""In a process of its own: evaluate jaxprs from files on the arguments of their programs, and save the results."""

import sys
from pathlib import Path

import jax
import numpy as np

from jaxshrink.jaxprs import loads
from tests.jaxprs.comparing import flat
from tests.jaxprs.programs import PROGRAMS

folder = Path(sys.argv[1])
for name in sys.argv[2:]:
    jaxpr = loads((folder / f"{name}.jaxpr").read_bytes())
    np.savez(folder / f"{name}.npz", *flat(jaxpr)(*jax.tree.leaves(PROGRAMS[name][1])))
