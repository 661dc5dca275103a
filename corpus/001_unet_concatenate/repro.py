"""Denoise a 1-D signal with a small U-Net."""
import jax
import jax.numpy as jnp
import numpy as np

WIDTHS = [8, 16, 32]


def conv_init(key, size, c_in, c_out):
    return {"w": jax.random.normal(key, (size, c_in, c_out)) / np.sqrt(size * c_in), "b": jnp.zeros(c_out)}


def conv(p, x, stride=1):
    y = jax.lax.conv_general_dilated(x, p["w"], (stride,), "SAME", dimension_numbers=("NWC", "WIO", "NWC"))
    return y + p["b"]


def init(key):
    params = {"down": [], "up": []}
    c = 1
    for width in WIDTHS:
        key, k = jax.random.split(key)
        params["down"].append(conv_init(k, 5, c, width))
        c = width
    for width in WIDTHS[-2::-1]:
        key, k = jax.random.split(key)
        params["up"].append(conv_init(k, 5, c + width, width))
        c = width
    key, k = jax.random.split(key)
    params["out"] = conv_init(k, 1, c, 1)
    return params


def upsample(x):
    return jnp.repeat(x, 2, axis=1)


def unet(params, x):
    skips = []
    for i, p in enumerate(params["down"]):
        x = jax.nn.gelu(conv(p, x, stride=1 if i == 0 else 2))
        skips.append(x)
    skips.pop()
    for p in params["up"]:
        x = jnp.concatenate([upsample(x), skips.pop()], axis=-1)
        x = jax.nn.gelu(conv(p, x))
    return conv(params["out"], x)


@jax.jit
def loss(params, noisy, clean):
    return jnp.mean((unet(params, noisy) - clean) ** 2)


rng = np.random.default_rng(0)
t = np.linspace(0, 8 * np.pi, 250)  # 250 samples: halved twice, that is 63 and not 62.5
clean = np.stack([np.sin(t + phase) for phase in rng.uniform(0, 6, size=16)])[..., None]
noisy = clean + 0.3 * rng.standard_normal(clean.shape)
params = init(jax.random.PRNGKey(42))
for step in range(100):
    value, grads = jax.value_and_grad(loss)(params, noisy, clean)
    params = jax.tree.map(lambda p, g: p - 1e-2 * g, params, grads)
    if step % 10 == 0:
        print(f"step {step}: {value:.4f}")
