"""A process of the target interpreter that has imported JAX, and forks a child for each candidate.

    python zygote.py DESCRIPTOR SPEC        a socket; a JSON object, see `jaxshrink/oracle/server.py`

No backend is started here: a child could not use XLA's threads. With `"preload": false` nothing
is imported, and each child becomes a fresh interpreter.
"""

import contextlib
import gc
import importlib
import importlib.util
import json
import os
import socket
import sys
import warnings

import abstract
import child
import sandbox
import workdir
from leftovers import backend_started, threads
from supervisor import Supervisor

_LAZY = ("jaxlib.mlir.dialects.mhlo", "jaxlib.mlir.dialects.builtin")
"""What JAX imports when it first compiles: a quarter of the time of a small real run."""


def main(descriptor, spec):
    channel = socket.socket(fileno=int(descriptor))
    features = {"landlock": sandbox.landlock_version(), "network": sandbox.cut_network()}
    sandbox.adopt_orphans()
    spec["confined"] = features["landlock"] > 0
    try:
        features.update(_preload(spec, descriptor) if spec["preload"] else {})
    except ImportError as error:
        channel.sendall(json.dumps({"error": str(error)}).encode() + b"\n")
        return
    life = child.forked(spec, features["abstract"]) if spec["preload"] else child.executed(spec)
    supervisor = Supervisor(channel, spec, life, _learner() if spec["preload"] else lambda names: None)
    supervisor.answer({"ready": {"python": sys.version.split()[0], **features}})
    child.hide()
    gc.collect()
    gc.freeze()
    supervisor.serve()
    workdir.remove(spec["root"])


def _preload(spec, descriptor):
    """Import JAX and what the program imports, except for modules that fail or start something.

    Such a module cannot be taken back: begin again without it.
    """
    import jax
    import jax.numpy
    import jaxlib
    import numpy

    for module in _LAZY:
        with contextlib.suppress(ImportError):  # JAX changes what it needs
            importlib.import_module(module)
    before = threads()
    spec["imports"] = list(filter(_is_module, spec["imports"]))
    for module in spec["imports"]:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                importlib.import_module(module)
        except BaseException:  # an import may raise or exit as it likes
            _restart_without(module, spec, descriptor)
        if backend_started() or threads() > before:
            _restart_without(module, spec, descriptor)
    return {
        "jax": jax.__version__, "jaxlib": jaxlib.__version__, "numpy": numpy.__version__,
        "imports": spec["imports"], "abstract": abstract.check(),
    }  # fmt: skip


def _is_module(name):
    try:
        return name in sys.modules or importlib.util.find_spec(name) is not None
    except (ImportError, ValueError, AttributeError):  # its parent is no package, or cannot be imported
        return False


def _learner():
    """What imports modules of the libraries that a child had to import, so that those after it need not.

    There they have started neither a backend nor threads; one that cannot be imported here is left alone.
    """
    tried = set()

    def learn(names):
        new = [name for name in names if name not in tried and name not in sys.modules]
        tried.update(names)
        for name in new:
            with warnings.catch_warnings(), contextlib.suppress(Exception):  # an import may raise as it likes
                warnings.simplefilter("ignore")
                importlib.import_module(name)
        if new:
            gc.freeze()

    return learn


def _restart_without(module, spec, descriptor):
    spec["imports"] = [other for other in spec["imports"] if other != module]
    os.set_inheritable(int(descriptor), True)
    os.execv(sys.executable, [sys.executable, __file__, descriptor, json.dumps(spec)])


if __name__ == "__main__":
    main(sys.argv[1], json.loads(sys.argv[2]))
