import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


class PretrainModule:
    automatic_optimization = False

    def __init__(self, model, loss_fn, lr=1e-3):
        self.model = DistributedDataParallel(model)
        self.loss_fn = loss_fn
        self.opt = torch.optim.AdamW(self.model.parameters(), lr=lr)
        self.logged = {}

    def log(self, name, value):
        self.logged.setdefault(name, []).append(float(value))

    def _all_gather(self, value):
        out = [torch.zeros_like(value) for _ in range(dist.get_world_size())]
        dist.all_gather(out, value)
        return torch.stack(out)

    def training_step(self, batch, batch_idx):
        x, y, mask = batch
        self.opt.zero_grad()
        loss, num_frame = self.loss_fn(self.model(x), y, mask)
        if torch.isinf(loss) or torch.isnan(loss):
            self.log("skipped", 1)
            return None
        num_frame = self._all_gather(num_frame).sum()
        loss = loss * dist.get_world_size() / num_frame * mask.sum()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 10.0)
        self.opt.step()
        self.log("loss", loss.detach())
        return loss

    def on_epoch_end(self, epoch):
        total = torch.tensor([sum(self.logged["loss"]), len(self.logged["loss"])])
        dist.reduce(total, dst=0)
        if dist.get_rank() == 0:
            print(f"epoch {epoch}: loss {total[0] / total[1]:.4f}", flush=True)
        self.logged.clear()
