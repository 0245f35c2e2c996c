"""What is left at time t of initial data that diffuse: exp(-t A) v for PDEBench's time-marched Darcy files."""

from __future__ import annotations

from typing import Any

import numpy as np

KRYLOV_VECTORS = 40
SHIFT = 0.1  # of the time; van den Eshof and Hochbruck 2006, SIAM J. Sci. Comput. 27
NEGLIGIBLE = 1e-12


def decayed(matrix: Any, initial: np.ndarray, time: float) -> np.ndarray:
    """Returns exp(-time * matrix) @ initial for a sparse symmetric positive matrix.

    Lanczos on (1 + shift * matrix)^-1: the few slow modes that matter are found first, whatever the
    resolution, where explicit steps would be bound by the fastest.
    """
    from scipy import sparse
    from scipy.sparse.linalg import splu

    shift, size = SHIFT * time, np.linalg.norm(initial)
    if not size:
        return np.zeros_like(initial)
    factors = splu(sparse.eye_array(matrix.shape[0], format="csc") + shift * matrix)
    basis, small = [initial / size], np.zeros((KRYLOV_VECTORS, KRYLOV_VECTORS))
    for column in range(KRYLOV_VECTORS):
        vector = factors.solve(basis[column])
        for row, known in enumerate(basis):  # all of them: Lanczos' short recurrence loses orthogonality
            small[row, column] = known @ vector
            vector = vector - small[row, column] * known
        length = np.linalg.norm(vector)
        if column + 1 == KRYLOV_VECTORS or length < NEGLIGIBLE:
            break
        small[column + 1, column] = length
        basis.append(vector / length)
    count = len(basis)
    eigenvalues, vectors = np.linalg.eigh((small[:count, :count] + small[:count, :count].T) / 2)
    rates = (1 / np.clip(eigenvalues, NEGLIGIBLE, 1.0) - 1) / shift
    weights = vectors @ (np.exp(-time * rates) * vectors[0])
    return np.asarray(size * (np.stack(basis, axis=1) @ weights))


def random_initial_field(stream: np.random.Generator, centres: np.ndarray) -> np.ndarray:
    """Returns PDEBench-like initial data (X, Y): u0 (1 + delta g), u0 ~ U(0.1, 10), delta ~ U(0.01, 0.5).

    g is a sum of sines over the modes |k| <= 4 of both axes, amplitude k^-1/2, random phases, scaled to
    largest size 1; every second field is multiplied by a smooth window along x and y.
    """
    level, delta = stream.uniform(0.1, 10), stream.uniform(0.01, 0.5)
    field = np.zeros((len(centres), len(centres)))
    for kx in range(-4, 5):
        for ky in range(-4, 5):
            phase = stream.uniform(0, 2 * np.pi)
            if size := np.hypot(kx, ky):
                wave = 2 * np.pi * (kx * centres[:, None] + ky * centres[None, :])
                field += np.sin(wave + phase) / np.sqrt(size)
    field = level * (1 + delta * field / np.abs(field).max())
    windowed, edges = stream.uniform() < 0.5, stream.uniform((0.1, 0.55), (0.45, 0.9), size=(2, 2))
    if windowed:
        rises = [0.5 * (np.tanh((centres - a) / 0.01) - np.tanh((centres - b) / 0.01)) for a, b in edges]
        field = field * rises[0][:, None] * rises[1][None, :]
    return np.asarray(field)
