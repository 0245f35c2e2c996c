import torch
from tqdm import tqdm


class Report:
    def __init__(self, accelerator, every):
        self.accelerator, self.every = accelerator, every
        self.bar = tqdm(total=40, disable=not accelerator.is_main_process)

    def tick(self, count):
        self.bar.update(count)

    def due(self):
        return self.bar.n > 0 and self.bar.n % self.every == 0

    def evaluate(self, model, loader):
        model.eval()
        hits = []
        for x, y in loader:
            with torch.no_grad():
                guess = model(x).argmax(1)
            guess, y = self.accelerator.gather_for_metrics((guess, y))
            hits.append((guess == y).float())
        model.train()
        self.accelerator.print(f"accuracy {torch.cat(hits).mean():.3f}")
