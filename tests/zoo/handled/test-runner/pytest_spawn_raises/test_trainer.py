import pytest
import torch.multiprocessing as mp

from trainer import worker


@pytest.fixture
def init_file(tmp_path):
    return str(tmp_path / "rendezvous")


def test_trains(init_file):
    mp.spawn(worker, args=(2, init_file, 1e-2), nprocs=2)


def test_divergence_is_reported(init_file):
    with pytest.raises(mp.ProcessRaisedException, match="DivergedError: loss is"):
        mp.spawn(worker, args=(2, init_file, 1e18, 12), nprocs=2)
