"""What stands before the calls: imports, and settings that the program made."""

import ast
import enum
import os
import sys

_ALIASES = {
    "jax": "import jax", "jnp": "import jax.numpy as jnp", "np": "import numpy as np", "lax": "from jax import lax",
    "pl": "from jax.experimental import pallas as pl", "P": "from jax.sharding import PartitionSpec as P",
    "pltpu": "from jax.experimental.pallas import tpu as pltpu", "operator": "import operator",
}  # fmt: skip
_WITH_JAX = (
    "jax", "jax.nn", "jax.random", "jax.tree", "jax.tree_util", "jax.debug", "jax.sharding", "jax.errors",
    "jax.checkpoint_policies", "jax.dtypes", "jax.config", "jax.numpy", "jax.lax", "jax.image", "jax.ops",
)  # fmt: skip
"""Modules and namespaces that `import jax` brings along."""

_DATA = 'data = np.load(__file__[:-3] + ".npz")'
"""Large arrays lie beside the program, in a file of its name."""

_OPTIONS = (
    "jax_enable_x64", "jax_debug_nans", "jax_debug_infs", "jax_default_matmul_precision", "jax_numpy_rank_promotion",
    "jax_numpy_dtype_promotion", "jax_check_tracer_leaks", "jax_enable_checks", "jax_disable_jit",
    "jax_default_prng_impl", "jax_num_cpu_devices", "jax_softmax_custom_jvp", "jax_enable_custom_prng",
    "jax_default_dtype_bits",
)  # fmt: skip
_VARIABLES = ("XLA_FLAGS", "LIBTPU_INIT_ARGS")


class Settings:
    """The environment and JAX's options as the program found them."""

    def __init__(self):
        self.environment = dict(os.environ)
        self.options = {}

    def look(self):
        """Remember JAX's options, when it has just been imported."""
        self.options = _options()

    def made(self):
        """Statements for what the program has set: those before JAX is imported, and those after."""
        names = [name for name in os.environ if name in _VARIABLES or name.startswith("JAX_")]
        changed = {name: os.environ[name] for name in names if os.environ[name] != self.environment.get(name)}
        before = [f"os.environ[{name!r}] = {value!r}" for name, value in sorted(changed.items())]
        current = _options() if "jax" in sys.modules else {}
        after = [
            f"jax.config.update({name!r}, {value!r})"
            for name, value in current.items()
            if name in self.options and self.options[name] != value and isinstance(value, (bool, int, str, type(None)))
        ]
        return before, after


def _options():
    """JAX's options, but for what a context has set for a while."""
    config = sys.modules["jax"].config
    holders = getattr(config, "_value_holders", None) or {}
    found = {}
    for name in _OPTIONS:
        holder = holders.get(name)
        if hasattr(holder, "get_global"):
            found[name] = holder.get_global()
        elif hasattr(config, name):
            found[name] = getattr(config, name)
    return {name: value.value if isinstance(value, enum.Enum) else value for name, value in found.items()}


def imports(body, settings=((), ())):
    """The head of a program with these statements."""
    before, after = settings
    reads_data = any(isinstance(node, ast.Name) and node.id == "data" for each in body for node in ast.walk(each))
    after = ast.parse("\n".join([*after, *([_DATA] if reads_data else [])])).body
    used, modules = set(), set()
    for statement in (*body, *after):
        for node in ast.walk(statement):
            if isinstance(node, ast.Name):
                used.add(node.id)
            elif isinstance(node, ast.Attribute):
                modules.add(_dotted(node).rpartition(".")[0])
    lines = ["import os", *before] if before else []
    lines += [_ALIASES["jax"]] if "jax" in used else []
    own = [name for name in modules if name.startswith("jax.") and name in sys.modules and name not in _WITH_JAX]
    lines += sorted("import " + name for name in own if not any(one.startswith(name + ".") for one in own))
    lines += [line for name, line in _ALIASES.items() if name in used and name != "jax"]
    return [*ast.parse("\n".join(lines)).body, *after]


def _dotted(node):
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""
