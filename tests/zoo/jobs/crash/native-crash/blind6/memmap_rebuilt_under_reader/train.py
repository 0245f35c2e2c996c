import tempfile

import torch
import torch.distributed as dist

from slides.callbacks import Deduplicate
from slides.store import FeatureStore
from slides.trainer import Trainer


def shared_folder():
    folder = [tempfile.mkdtemp(prefix="features-") if dist.get_rank() == 0 else None]
    dist.broadcast_object_list(folder, src=0)
    return folder[0]


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    store = FeatureStore(shared_folder(), dimension=64)
    if dist.get_rank() == 0:
        store.extract(tiles=4096)
    dist.barrier()
    store.open()
    Trainer(store, callbacks=[Deduplicate(after_epoch=1)], epochs=4).fit()
    dist.barrier()
    if dist.get_rank() == 0:
        store.remove()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
