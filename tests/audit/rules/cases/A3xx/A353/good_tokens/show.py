import numpy as np
from transformers import AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("bert-base-uncased")


def words(input_ids):
    tokens = tokenizer.convert_ids_to_tokens(input_ids)
    kept = [one for one in tokens if one != tokenizer.pad_token]
    spelled = np.array(tokens)
    text = tokenizer.decode(input_ids)
    return kept, spelled[spelled == tokenizer.sep_token], text == tokenizer.eos_token


def until_end(ids):
    for one in ids:
        token = tokenizer.decode([one])
        if token == tokenizer.eos_token:
            break
        yield token
