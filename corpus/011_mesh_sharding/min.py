import os

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"

import jax
from jax.sharding import NamedSharding, PartitionSpec

mesh = jax.sharding.Mesh(jax.devices(), "d")
jax.device_put(jax.numpy.ones(1), NamedSharding(mesh, PartitionSpec("d")))
