from datasets import load_dataset
from transformers import AutoModelForCausalLM, TrainingArguments

from trainers import Weighted


def main():
    args = TrainingArguments(output_dir="out", gradient_accumulation_steps=8)
    model = AutoModelForCausalLM.from_pretrained("some/model")
    Weighted(model=model, args=args, train_dataset=load_dataset("some/set", split="train")).train()


if __name__ == "__main__":
    main()
