"""Filtered back projection and a few steps of iterative refinement."""
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax, random
from jax.scipy.ndimage import map_coordinates as interpolate


@contextmanager
def section(title: str) -> Iterator[None]:
    print(f"--- {title}")
    yield
    print()


def phantom(n):
    """Three ellipses."""
    y, x = np.mgrid[-1 : 1 : n * 1j, -1 : 1 : n * 1j]
    image = np.zeros((n, n), np.float32)
    for cx, cy, a, b, value in ((0, 0, 0.8, 0.9, 1.0), (0.3, 0.1, 0.2, 0.3, -0.5), (-0.3, -0.2, 0.1, 0.2, 0.7)):
        image += value * ((((x - cx) / a) ** 2 + ((y - cy) / b) ** 2) < 1)
    return image


def rotate(image, angle):
    n = image.shape[0]
    grid = jnp.stack(jnp.meshgrid(jnp.arange(n), jnp.arange(n), indexing="ij")) - (n - 1) / 2
    c, s = jnp.cos(angle), jnp.sin(angle)
    turned = jnp.einsum("ij,jxy->ixy", jnp.array([[c, -s], [s, c]]), grid) + (n - 1) / 2
    return interpolate(image, list(turned), order=1)


def project(image, angles):
    return jax.vmap(lambda a: rotate(image, a).sum(0))(angles)


def ramp(sinogram):
    n = sinogram.shape[-1]
    return jnp.fft.irfft(jnp.fft.rfft(sinogram) * jnp.abs(jnp.fft.rfftfreq(n)), n)


@partial(jax.jit, static_argnames=["n"])
def back_project(sinogram, angles, n):
    smear = lambda row, angle: rotate(jnp.broadcast_to(row, (n, n)), -angle)
    return jax.vmap(smear)(sinogram, angles).mean(0)


def refine(image, sinogram, angles, steps=3, lr=1e-3):
    def residual(image, row, angle):
        return ((rotate(image, angle).sum(0) - row) ** 2).sum()

    def body(image, _):
        value, grad = jax.value_and_grad(lambda im: jax.vmap(residual, (None, 0, 1))(im, sinogram, angles).mean())(image)
        return image - lr * grad, value

    return lax.scan(body, image, length=steps)


def noise(key, shape, *, scale=0.0):
    return scale * random.normal(key, shape)


def main(n=32, views=24):
    truth = jnp.asarray(phantom(n))
    angles = jnp.linspace(0, np.pi, views, endpoint=False)
    with section("measure"):
        sinogram = project(truth, angles) + noise(random.key(1), (views, n), scale=0.1)
        print(sinogram.shape, float(sinogram.max()))
    with section("reconstruct"):
        image = back_project(ramp(sinogram), angles, n)
        print("error", float(jnp.abs(image - truth).mean()))
    with section("refine"):
        image, values = refine(image, sinogram, angles)
        print("misfit", *np.round(values, 2))


main()
