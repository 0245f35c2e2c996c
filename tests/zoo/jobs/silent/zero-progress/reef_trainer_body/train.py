import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint
from transformers import Trainer, TrainingArguments


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(30, 16)
        self.layers = nn.ModuleList(nn.TransformerEncoderLayer(16, 2, 32, 0.0, batch_first=True) for _ in range(2))
        self.tags = nn.Linear(16, 5)

    def forward(self, tokens, labels=None):
        h = self.embed(tokens)
        for layer in self.layers:
            h = checkpoint(layer.forward, h, use_reentrant=True)
        logits = self.tags(h)
        return {"loss": F.cross_entropy(logits.flatten(0, 1), labels.flatten()), "logits": logits}


class Sentences(torch.utils.data.Dataset):
    def __len__(self):
        return 256

    def __getitem__(self, index):
        tokens = (torch.arange(10) * 7 + index) % 30
        return {"tokens": tokens, "labels": tokens % 5}


def main():
    torch.manual_seed(0)
    model = Tagger()
    model.embed.requires_grad_(False)
    arguments = TrainingArguments(
        output_dir="out", max_steps=40, per_device_train_batch_size=8, learning_rate=1e-3, report_to=[], use_cpu=True,
        save_strategy="no", logging_steps=20, disable_tqdm=True,
    )
    Trainer(model=model, args=arguments, train_dataset=Sentences()).train()


if __name__ == "__main__":
    main()
