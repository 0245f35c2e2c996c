import torch.distributed as dist
import yaml

from pipe.corpus import PairCorpus
from pipe.first import EncoderStage
from pipe.last import DecoderStage


def main():
    with open("config.yaml") as handle:
        cfg = yaml.safe_load(handle)
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    corpus = PairCorpus(cfg["vocab"], cfg["length"], cfg["micro"], cfg["per_step"], cfg["seed"])
    stage = (EncoderStage, DecoderStage)[rank](cfg)
    for step in range(cfg["steps"]):
        loss = stage.run(corpus.step())
        if loss is not None and step % 20 == 0:
            print(f"step {step} loss {loss:.4f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
