from torch.utils.data import DataLoader
from transformers import AutoProcessor

from collate import Collator
from parts import build


def main(model, optimizer, dataset):
    processor = AutoProcessor.from_pretrained("Qwen/Qwen2-Audio-7B-Instruct")
    processor.tokenizer.padding_side = "left"
    for batch in DataLoader(dataset, 4, collate_fn=Collator(processor)):
        model(**batch).loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main(*build())
