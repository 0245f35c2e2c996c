import multiprocessing as mp

import numpy as np

from .wave import read_clip


def extract(name):
    wave, label = read_clip(name)
    frames = wave[: 15 * 256].reshape(15, 256) * np.hanning(256)
    power = np.abs(np.fft.rfft(frames)) ** 2
    return np.log1p(power[:, :64]).astype(np.float32), label


def build(names, jobs=2):
    with mp.get_context("spawn").Pool(jobs) as pool:
        rows = pool.map(extract, names, chunksize=16)
    feats, labels = zip(*rows)
    return np.stack(feats), np.array(labels)
