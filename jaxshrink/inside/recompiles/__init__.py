"""What a run of JAX traces and compiles, call by call, with all that the caches of JAX look at.

Runs in the target interpreter (`recompilesrun`, beside this folder), and as part of `jaxshrink.recompiles`. The parts:

- `watcher` notes each call that is traced or compiled, as JSON: see there;
- `hooks` is what it takes of JAX's internals: all of it, with a check for each version;
- `signature` tells what a call looks like to JAX, with `arguments` and `functions` for its parts, `identity` which of
  its objects are the same for JAX;
- `wrapped` finds the call that the program has made, where a wrapper of a library makes another one of it;
- `texts` has short texts of values;
- `differences` tells why a call was not in JAX's caches: in what it differs from the most similar one before;
- `places` tells where a function is defined and which line of the program calls it;
- `whenimported` waits for JAX.
"""
