import logging

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader

from titan.checkpoint import CheckpointManager
from titan.datasets import TextDataset, Tokenizer
from titan.job_config import JobConfig
from titan.model import Transformer

logger = logging.getLogger()


class Trainer:

    def __init__(self, config):
        self.config = config
        dist.init_process_group("gloo")
        torch.manual_seed(0)
        rank, world = dist.get_rank(), dist.get_world_size()
        tokenizer = Tokenizer()
        dataset = TextDataset(tokenizer, config.training.seq_len, rank, world)
        self.dataloader = DataLoader(dataset, batch_size=config.training.batch_size)
        self.model = DDP(Transformer(tokenizer.n_words))
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=config.training.lr)
        self.checkpointer = CheckpointManager(
            config.checkpoint, {"model": self.model.module, "optimizer": self.optimizer}
        )
        self.step = 0

    def train_step(self, tokens, labels):
        self.optimizer.zero_grad()
        logits = self.model(tokens)
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten())
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        return loss

    def train(self):
        data_iterator = iter(self.dataloader)
        while self.step < self.config.training.steps:
            self.step += 1
            loss = self.train_step(*next(data_iterator))
            if self.step % 10 == 0 and dist.get_rank() == 0:
                logger.info("step: %d loss: %.4f", self.step, loss.item())
            self.checkpointer.save(self.step, force=self.step == self.config.training.steps)
        logger.info("Training completed")

    def close(self):
        self.checkpointer.close()


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="[titan] %(asctime)s %(message)s")
    trainer = None
    try:
        trainer = Trainer(JobConfig.parse())
        trainer.train()
    finally:
        if trainer:
            trainer.close()
        if dist.is_initialized():
            dist.destroy_process_group()
            logger.info("Process group destroyed.")
