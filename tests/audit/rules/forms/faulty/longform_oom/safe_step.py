import gc

import torch
import torch.distributed as dist


class StepRunner:
    def __init__(self, model, optimizer, max_norm=1.0):
        self.model, self.optimizer, self.max_norm = model, optimizer, max_norm
        self.skipped = 0

    def _release(self):
        self.optimizer.zero_grad(set_to_none=True)
        gc.collect()
        torch.cuda.empty_cache()
        self.skipped += 1

    def __call__(self, ids, labels):
        failed = False
        try:
            loss = self.model(ids, labels)
            loss.backward()
        except torch.cuda.OutOfMemoryError:  # cause
            failed = True  # cause
        if failed:  # cause
            self._release()
            if dist.get_rank() == 0:
                print(f"skipped a batch of {tuple(ids.shape)}", flush=True)
            return None  # cause
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.max_norm)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        return loss.detach()
