import numpy as np
from common import Waves, fit
from torch.utils.data import DataLoader, get_worker_info

data = Waves("waves.npy")


def seed_worker(worker_id):
    np.random.seed(get_worker_info().dataset.epoch * 1000 + worker_id)


def begin(epoch):
    data.epoch = epoch


fit(DataLoader(data, 8, num_workers=4, worker_init_fn=seed_worker), 30, begin)
