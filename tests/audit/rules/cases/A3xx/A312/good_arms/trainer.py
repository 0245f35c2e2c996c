import torch


class Trainer:
    def __init__(self, model, amp):
        self.model, self.amp = model, amp
        self.optimizer = torch.optim.Adam(model.parameters())
        self.scaler = torch.amp.GradScaler("cuda")

    def step(self, x, y):
        loss = (self.model(x) - y).square().mean()
        self.optimizer.zero_grad()
        if self.amp:
            self.scaler.scale(loss).backward()
            self.scaler.step(self.optimizer)
            self.scaler.update()
        else:
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            self.optimizer.step()


def main(model, loader, amp):
    trainer = Trainer(model, amp)
    for x, y in loader:
        trainer.step(x, y)
