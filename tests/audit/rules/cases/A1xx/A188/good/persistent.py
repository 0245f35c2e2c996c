import numpy as np
from common import Waves, fit
from torch.utils.data import DataLoader


def seed_worker(worker_id):
    np.random.seed(17 + worker_id)


fit(DataLoader(Waves("waves.npy"), 8, num_workers=4, worker_init_fn=seed_worker, persistent_workers=True), 30)
