import itertools

import torch


class Trainer:
    def __init__(self, cfg, strategy):
        self.cfg, self.strategy = cfg, strategy

    @torch.no_grad()
    def _validate(self, module, data, batches):
        module.eval()
        losses = [module.validation_step(b) for b in itertools.islice(data.stream("val"), batches)]
        module.train()
        return self.strategy.mean(torch.stack(losses).mean())

    def _log(self, text):
        if self.strategy.rank == 0:
            print(text, flush=True)

    def fit(self, module, data):
        module = self.strategy.setup_module(module)
        self._log(f"sanity check: val_loss {self._validate(module, data, self.cfg.sanity_batches):.4f}")
        optimizer = module.configure_optimizers()
        batches = data.stream("train")
        for step in range(1, self.cfg.max_steps + 1):
            loss = module.training_step(next(batches))
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            if step % self.cfg.val_every == 0:
                train_loss = self.strategy.mean(loss)
                val_loss = self._validate(module, data, 4)
                self._log(f"step {step}: train_loss {train_loss:.4f} val_loss {val_loss:.4f}")
        self._log(f"`Trainer.fit` stopped: `max_steps={self.cfg.max_steps}` reached.")
