def field_part(state, drive, stiffness=SIZE / 100):
    """A damped oscillator under an outer force."""
    position, velocity = state
    return velocity, -stiffness * position - 0.1 * velocity + drive


def runge_kutta_part(state, drive, dt):
    """One step of second order."""
    k1 = field_part(state, drive)
    middle = jax.tree.map(lambda s, k: s + 0.5 * dt * k, state, k1)
    k2 = field_part(middle, drive)
    return jax.tree.map(lambda s, k: s + dt * k, state, k2)


def solve_part(drive, steps=STEPS, dt=0.05):
    """Integrate all points of a batch at once."""
    start = (jnp.zeros_like(drive), jnp.zeros_like(drive))

    def body(_, state):
        return runge_kutta_part(state, drive, dt)

    return lax.fori_loop(0, steps, body, start)


def energy_part(state):
    """Kinetic and potential energy, averaged."""
    position, velocity = state
    return jnp.mean(0.5 * velocity**2), jnp.mean(0.5 * position**2)


def run_part(key, x, config):
    """Drive oscillators with the batch and add what they do."""
    state = jax.jit(solve_part)(x)
    kinetic, potential = energy_part(state)
    if config.verbose:
        print(f"part energy {float(kinetic + potential):.4f}")
    return x + config.decay * state[0]
