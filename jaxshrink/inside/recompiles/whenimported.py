"""Does something as soon as JAX is there, and not before: programs set variables that JAX reads when it is imported."""

import importlib.machinery
import sys


def when_imported(name, then):
    """Call `then()` once the module is imported: now if it is already, else at the end of its import."""
    if name in sys.modules:
        then()
    else:
        sys.meta_path.insert(0, _Finder(name, then))


class _Finder:
    def __init__(self, name, then):
        self.name, self.then = name, then

    def find_spec(self, name, path=None, target=None):
        if name != self.name:
            return None
        sys.meta_path.remove(self)
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def executed(module):
                execute(module)
                self.then()

            spec.loader.exec_module = executed
        return spec
