import torch
import torch.distributed as dist

from sft.conversations import ConversationDataset
from sft.decoder import Decoder
from sft.trainer import Trainer, TrainingArguments


def main():
    dist.init_process_group("gloo")
    args = TrainingArguments()
    torch.manual_seed(args.seed)
    model = Decoder(vocab=40, width=48, layers=2)
    trainer = Trainer(model, ConversationDataset(3200, 40, 1), ConversationDataset(160, 40, 2), args)
    trainer.train()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
