"""A live JAX program, told as calls of JAX's public API.

Runs in the target interpreter, as what is beside it, and as part of `jaxshrink.capture`. The parts:

- `surface` finds JAX's public functions and the methods of its arrays, and puts `recorder`'s wrappers in their place;
- `recorder` notes each call: what was called, with what, and what came out (`calls`, the data; `plain`, any pytree as
  tuples, lists and dicts);
- `needed` finds the calls that count for a failure;
- `writer` makes a program of them, with `constants` for the values.
"""
