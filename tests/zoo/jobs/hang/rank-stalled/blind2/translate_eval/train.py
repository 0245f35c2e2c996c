import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from pytorch_translate import options
from pytorch_translate.model import Seq2Seq
from pytorch_translate.multiprocessing_bleu import score_hypotheses


def make_corpus(n, vocab, length, seed):
    g = torch.Generator().manual_seed(seed)
    src = torch.randint(1, vocab, (n, length), generator=g)
    return TensorDataset(src, src.flip(1))


class Evaluator:

    def __init__(self, args, dataset):
        self.args, self.dataset = args, dataset

    def __call__(self, model, epoch):
        keep = self.args.beam if epoch > self.args.nbest_after else 1
        samples = []
        for i, (src, tgt) in enumerate(self.dataset):
            samples.append((i, model.generate(src, keep, len(tgt)), tgt.tolist()))
        results = score_hypotheses(samples, self.args.eval_processes)
        return sum(beams[0][0] for beams in results.values()) / len(results)


def main():
    args = options.parse()
    dist.init_process_group("gloo")
    torch.manual_seed(4)
    train_set = make_corpus(256, args.vocab, 12, 1)
    evaluator = Evaluator(args, make_corpus(160, args.vocab, 48, 2))
    loader = DataLoader(train_set, 16, sampler=DistributedSampler(train_set))
    model = DistributedDataParallel(Seq2Seq(args.vocab))
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    best = torch.zeros(1)
    for epoch in range(1, args.max_epoch + 1):
        loader.sampler.set_epoch(epoch)
        for src, tgt in loader:
            loss = model(src, tgt)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if epoch % args.generate_bleu_eval_interval == 0:
            bleu = torch.zeros(1)
            if dist.get_rank() == 0:
                bleu += evaluator(model.module, epoch)
            dist.broadcast(bleu, src=0)
            best = torch.maximum(best, bleu)
            if dist.get_rank() == 0:
                print(f"| epoch {epoch:03d} | loss {loss.item():.3f} | bleu {bleu.item():.4f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
