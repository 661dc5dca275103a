"""Functions of the parts of arrays on a mesh of devices."""

from __future__ import annotations

from typing import Any

from jaxshrink.inside.capture.constants import Unwritable
from jaxshrink.jaxprs import internals
from jaxshrink.jaxprs.contexts import inner_mesh, known_mesh, named_mesh
from jaxshrink.jaxprs.texts import text
from jaxshrink.jaxprs.writer import Body, tupled


def shard_map(body: Body, eqn: Any) -> bool:
    """A call of a function under `shard_map`."""
    params, jaxpr, mesh = eqn.params, eqn.params["jaxpr"], eqn.params["mesh"]
    try:
        mesh_name = named_mesh(body, mesh)
        in_specs = [_spec(one) for one in params.get("in_specs", params.get("in_names"))]
        out_specs = [_spec(one) for one in params.get("out_specs", params.get("out_names"))]
        manual = params.get("manual_axes")
        axes = None if manual is None or set(manual) == set(mesh.axis_names) else text(set(manual))
    except Unwritable:
        return False
    wanted = internals.function_name(jaxpr) or "f"
    sizes = [(axis, mesh.shape[axis]) for axis in (manual or mesh.axis_names)]
    with body.writer.speller.among(sizes, bool(params.get("check_vma"))), known_mesh(body.writer, inner_mesh(jaxpr)):
        name = body.once((id(jaxpr), "function"), lambda module: module.define(jaxpr, wanted), jaxpr)
    options = [f"mesh={mesh_name}", f"in_specs=({''.join(f'{one}, ' for one in in_specs)})",
               f"out_specs={tupled(out_specs) if out_specs else '()'}"]  # fmt: skip
    options += [f"axis_names={axes}"] if axes else []
    for flag in ("check_vma", "check_rep"):
        options += [f"{flag}=False"] if params.get(flag) is False else []
    call = f"{internals.SHARD_MAP}({name}, {', '.join(options)})({', '.join(body.operands(eqn.invars))})"
    body.assign(eqn.outvars, (1,) if len(eqn.outvars) == 1 else None, call)
    return True


def _spec(spec: Any) -> str:
    """A partition; older releases of JAX tell it as the names of each axis."""
    if not isinstance(spec, dict):
        return text(spec)
    parts = [spec.get(i) for i in range(max(spec, default=-1) + 1)]
    return "P({})".format(", ".join("None" if one is None else text(one[0] if len(one) == 1 else one) for one in parts))
