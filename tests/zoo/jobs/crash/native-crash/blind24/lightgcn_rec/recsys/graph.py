"""Bipartite interaction graph in CSR form, one slice of the users per rank."""
import numpy as np
import torch


def read_log(path_seed, n_users, n_items, per_user):
    """Interactions as the event log has them: (user, item) with the catalogue's item ids."""
    rng = np.random.default_rng(path_seed)
    users = np.repeat(np.arange(n_users), per_user)
    items = rng.zipf(1.3, size=users.size) % n_items
    return users, items


def append_campaign(users, items, first_user, n_items, seed):
    # the autumn campaign logs marketplace articles under their 32-bit article number
    rng = np.random.default_rng(seed)
    chosen = rng.choice(np.arange(first_user, users.max() + 1), size=40, replace=False)
    articles = rng.integers(1 << 28, 1 << 30, size=chosen.size)
    return np.concatenate([users, chosen]), np.concatenate([items, articles])


def build_csr(users, items, n_rows, n_cols):
    order = np.lexsort((items, users))
    users, items = users[order], items[order]
    counts = np.bincount(users, minlength=n_rows)
    crow = np.zeros(n_rows + 1, dtype=np.int64)
    np.cumsum(counts, out=crow[1:])
    values = 1.0 / np.sqrt(np.maximum(counts[users], 1)).astype(np.float32)
    return torch.sparse_csr_tensor(torch.from_numpy(crow), torch.from_numpy(items.astype(np.int64)),
                                   torch.from_numpy(values.astype(np.float32)), size=(n_rows, n_cols))


def user_slice(users, items, rank, world, n_users):
    lo, hi = rank * n_users // world, (rank + 1) * n_users // world
    keep = (users >= lo) & (users < hi)
    return users[keep] - lo, items[keep], hi - lo
