"""What runs in the target interpreter: Python 3.9 and newer, JAX 0.4.20 and newer, without jaxshrink.

Standard library only, JAX and NumPy imported late, every file loaded by its path. The parts:

- `zygote` is a process that has imported JAX and forks (`supervisor`) a `child` for each candidate;
- a child puts itself into a sandbox (`sandbox`, `workdir`), runs the candidate, for real or traced
  only (`abstract`), and tells how it failed (`report`); `coldrun` does so in a fresh interpreter;
- `limits` measures and ends what a child has started;
- `observe` is one watched run of the original;
- `recompiles` notes what is traced and compiled, for `compiles` and `recompilesrun`.
"""
