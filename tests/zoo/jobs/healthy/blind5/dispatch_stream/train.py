import torch
from accelerate import Accelerator
from accelerate.utils import DataLoaderConfiguration, set_seed
from torch import nn
from torch.utils.data import DataLoader

from corpus import ConstantLengthDataset


class CodeModel(nn.Module):
    def __init__(self, vocab=36, dim=32):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.lstm = nn.LSTM(dim, dim, batch_first=True)
        self.head = nn.Linear(dim, vocab)

    def forward(self, ids):
        h, _ = self.lstm(self.embed(ids))
        return self.head(h)


def main():
    torch.set_num_threads(1)
    accelerator = Accelerator(cpu=True, mixed_precision="bf16", gradient_accumulation_steps=2,
                              dataloader_config=DataLoaderConfiguration(dispatch_batches=True))
    set_seed(11)
    model = CodeModel()
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-2)
    loader = DataLoader(ConstantLengthDataset(), batch_size=4)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    steps = 0
    for ids in loader:
        with accelerator.accumulate(model):
            logits = model(ids[:, :-1])
            loss = nn.functional.cross_entropy(logits.float().flatten(0, 1), ids[:, 1:].flatten())
            accelerator.backward(loss)
            if accelerator.sync_gradients:
                accelerator.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
        if accelerator.sync_gradients:
            steps += 1
            if steps % 8 == 0:
                mean = accelerator.gather(loss.detach().reshape(1)).mean().item()
                accelerator.print(f"step {steps}: loss/train {mean:.4f}", flush=True)
    accelerator.wait_for_everyone()
    accelerator.end_training()


if __name__ == "__main__":
    main()
