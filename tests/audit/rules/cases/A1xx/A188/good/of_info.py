import numpy as np
import torch
from common import Waves, fit
from torch.utils.data import DataLoader


def seed_worker(worker_id):
    info = torch.utils.data.get_worker_info()
    np.random.seed((info.seed + info.id) % 2**32)


fit(DataLoader(Waves("waves.npy"), 8, num_workers=4, worker_init_fn=seed_worker), 30)
