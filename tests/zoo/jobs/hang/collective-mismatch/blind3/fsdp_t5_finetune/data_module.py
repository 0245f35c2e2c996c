import torch


class SummaryPairs:
    """Regression stand-in for (document, summary) embeddings, one shard for each rank."""

    def __init__(self, cfg, rank):
        self.cfg, self.rank = cfg, rank
        generator = torch.Generator().manual_seed(cfg.seed)
        self.teacher = torch.randn(cfg.model_dim, cfg.model_dim, generator=generator) / 4

    def _draw(self, count, salt, teacher):
        generator = torch.Generator().manual_seed(self.cfg.seed + 17 * salt + self.rank)
        for _ in range(count):
            x = torch.randn(self.cfg.batch_size, self.cfg.model_dim, generator=generator)
            yield x, x @ teacher

    def train(self, epoch):
        return self._draw(self.cfg.train_batches, epoch + 1, self.teacher)

    def validation(self):
        # the two shards are two corpora: news, and short notes with weaker targets
        scale = 1.0 if self.rank == 0 else 0.15
        return self._draw(self.cfg.val_batches, 99, self.teacher * scale)
