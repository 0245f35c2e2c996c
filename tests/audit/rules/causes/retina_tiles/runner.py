import torch


class Meter:
    def __init__(self):
        self.sum, self.n = 0.0, 0

    def add(self, v):
        self.sum += v
        self.n += 1

    def __str__(self):
        return f"{self.sum / max(self.n, 1):.4f}"


class Runner:
    def __init__(self, model, optimizer, scaler, device, rank):
        self.model, self.optimizer, self.scaler = model, optimizer, scaler
        self.device, self.rank = device, rank
        self.meter = Meter()

    def _to(self, images, targets):
        images = [im.to(self.device) for im in images]
        targets = [{k: v.to(self.device) for k, v in t.items()} for t in targets]
        return images, targets

    def _forward_backward(self, images, targets):
        with torch.autocast("cuda", dtype=torch.float16):
            losses = self.model(images, targets)
            loss = sum(losses.values())
        self.scaler.scale(loss).backward()
        return loss.item()

    def step(self, images, targets):
        images, targets = self._to(images, targets)
        self.optimizer.zero_grad(set_to_none=True)
        try:  # cause
            value = self._forward_backward(images, targets)  # cause
        except torch.cuda.OutOfMemoryError:  # cause
            print(f"[rank {self.rank}] ran out of memory on {[tuple(i.shape) for i in images]}, skipping")
            torch.cuda.empty_cache()
            return  # cause
        self.scaler.step(self.optimizer)
        self.scaler.update()
        self.meter.add(value)
