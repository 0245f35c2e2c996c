class CharTokenizer:
    """Byte-pair free tokenizer for the order desk replies."""

    def __init__(self):
        symbols = ["<s>", "</s>", "[INST]", "[/INST]"] + list("abcdefghijklmnopqrstuvwxyz0123456789 .,:#")
        self.itos = symbols
        self.stoi = {s: i for i, s in enumerate(symbols)}
        self.bos_token_id = self.stoi["<s>"]
        self.eos_token_id = self.stoi["</s>"]
        self.inst = self.stoi["[INST]"]
        self.end_inst = self.stoi["[/INST]"]
        self.pad_token_id = None

    def __len__(self):
        return len(self.itos)

    def encode(self, text):
        return [self.stoi[c] for c in text]

    def decode(self, ids):
        return "".join(self.itos[i] for i in ids)


def load_tokenizer():
    tokenizer = CharTokenizer()
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token_id = tokenizer.eos_token_id
    return tokenizer
