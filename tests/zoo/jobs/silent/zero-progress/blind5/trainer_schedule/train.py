import torch
import torch.distributed as dist
from torch import nn
from torch.utils.data import Dataset
from transformers import Trainer, TrainingArguments

from optimization import create_optimizer_and_scheduler


class ReviewPairs(Dataset):
    """Bags of word ids; the label says which of two topics has more words in it."""

    def __init__(self, size, seed):
        g = torch.Generator().manual_seed(seed)
        self.ids = torch.randint(0, 60, (size, 14), generator=g)
        self.labels = ((self.ids < 20).sum(1) > (self.ids >= 40).sum(1)).long()

    def __len__(self):
        return len(self.ids)

    def __getitem__(self, i):
        return {"input_ids": self.ids[i], "labels": self.labels[i]}


class TopicClassifier(nn.Module):
    def __init__(self, vocab=60, dim=32):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.dense = nn.Linear(dim, dim)
        self.norm = nn.LayerNorm(dim)
        self.out = nn.Linear(dim, 2)

    def forward(self, input_ids, labels=None):
        h = torch.tanh(self.dense(self.embed(input_ids).mean(1)))
        logits = self.out(self.norm(h))
        loss = nn.functional.cross_entropy(logits, labels) if labels is not None else None
        return {"loss": loss, "logits": logits}


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = TopicClassifier()
    max_steps = 40
    optimizer, scheduler = create_optimizer_and_scheduler(model, lr=5e-3, num_warmup_steps=50, num_training_steps=400)
    args = TrainingArguments(
        output_dir="out", use_cpu=True, ddp_backend="gloo", max_steps=max_steps, per_device_train_batch_size=8,
        logging_steps=10, save_strategy="no", report_to=[], disable_tqdm=True, seed=7,
    )
    trainer = Trainer(model=model, args=args, train_dataset=ReviewPairs(640, 1), eval_dataset=ReviewPairs(64, 2),
                      optimizers=(optimizer, scheduler))
    trainer.train()
    metrics = trainer.evaluate()
    if trainer.is_world_process_zero():
        print(f"eval_loss {metrics['eval_loss']:.4f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
