import torch
import torch.nn.functional as F

from accelerator import Accelerator
from args import ModelArgs, TrainerArgs
from modeling import CausalLM, DecoderLayer
from parallelize import parallelize


class Trainer:
    def __init__(self, accelerator, model, args, vocab):
        self.accelerator, self.model, self.args, self.vocab = accelerator, model, args, vocab
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr, foreach=False)
        self.generator = torch.Generator().manual_seed(args.seed + accelerator.process_index)

    def next_batch(self):
        shape = (self.args.batch_size, 1)
        start = torch.randint(self.vocab, shape, generator=self.generator)
        return (start + torch.arange(self.args.sequence)) % self.vocab

    def train_step(self):
        ids = self.next_batch()
        logits = self.model(ids[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())
        self.accelerator.backward(loss)
        norm = self.accelerator.clip_grad_norm_(self.model.parameters(), self.args.max_grad_norm)
        self.optimizer.step()
        self.optimizer.zero_grad()
        return loss.item(), norm

    def train(self):
        for step in range(1, self.args.steps + 1):
            loss, norm = self.train_step()
            if self.accelerator.is_main_process and step % self.args.logging_steps == 0:
                print(f"{{'loss': {loss:.3f}, 'grad_norm': {float(norm):.3f}, 'step': {step}}}")


def main():
    accelerator = Accelerator()
    model_args, args = ModelArgs(), TrainerArgs()
    torch.manual_seed(args.seed)
    model = parallelize(CausalLM(model_args), accelerator.num_processes, DecoderLayer)
    Trainer(accelerator, model, args, model_args.vocab).train()
    accelerator.end_training()


if __name__ == "__main__":
    main()
