import os
import tempfile

os.environ["TOKENIZERS_PARALLELISM"] = "false"
import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import (DataCollatorForLanguageModeling, GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast,
                          Trainer, TrainingArguments, set_seed)

WORDS = [str(i) for i in range(10)] + ["plus", "is", "<eos>", "<unk>"]


def make_tokenizer():
    core = Tokenizer(models.WordLevel({w: i for i, w in enumerate(WORDS)}, unk_token="<unk>"))
    core.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tok = PreTrainedTokenizerFast(tokenizer_object=core, eos_token="<eos>", unk_token="<unk>")
    tok.pad_token = tok.eos_token
    return tok


def sums(tok, n, seed):
    g = torch.Generator().manual_seed(seed)
    rows = []
    for _ in range(n):
        a, b = torch.randint(0, 10, (2,), generator=g).tolist()
        text = f"{a} plus {b} is " + " ".join(str(a + b)) + " " + tok.eos_token
        rows.append(tok(text))
    return rows


def show(model, tok, prompt):
    ids = tok(prompt, return_tensors="pt")
    out = model.generate(**ids, max_new_tokens=12, do_sample=False, pad_token_id=tok.pad_token_id)
    print("sample:", tok.decode(out[0]), flush=True)


def main():
    set_seed(0)
    tok = make_tokenizer()
    model = GPT2LMHeadModel(GPT2Config(vocab_size=len(WORDS), n_positions=32, n_embd=48, n_layer=2, n_head=4,
                                       bos_token_id=tok.eos_token_id, eos_token_id=tok.eos_token_id))
    args = TrainingArguments(output_dir=tempfile.mkdtemp(), num_train_epochs=4, per_device_train_batch_size=32,
                             learning_rate=3e-3, logging_steps=50, save_strategy="no", report_to=[], use_cpu=True,
                             disable_tqdm=True, dataloader_num_workers=0)
    trainer = Trainer(model=model, args=args, train_dataset=sums(tok, 1600, 1),
                      data_collator=DataCollatorForLanguageModeling(tok, mlm=False))
    trainer.train()
    model.eval()
    show(model, tok, "3 plus 4 is")
    show(model, tok, "9 plus 8 is")


if __name__ == "__main__":
    main()
