"""Planted secrets never come through; words of the trade always do."""

from __future__ import annotations

import ast
import time

import pytest

from diagnostics.core import redaction

HEX40 = "0123456789abcdef0123456789abcdef01234567"
PEM = (
    "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\n"
    + "\n".join(["MIIEowIBAAKCAQEA0Z3VS5JJcds3xfn/ygWyF8PbnGy5AHB8hFJ7aQ" + "AbCd1234"] * 4)
    + "\nq5Zz==\n-----END RSA PRIVATE KEY-----"
)
# (what was written, the part of it that nobody may read)
PLANTED = [
    ("export HF_TOKEN=hf_AbCdEfGhIjKlMnOpQrStUvWx", "hf_AbCdEfGhIjKlMnOpQrStUvWx"),
    ("pushing with hf_AbCdEfGhIjKlMnOpQrStUvWx now", "AbCdEfGhIjKl"),
    ("remote: ghp_0123456789abcdefghijABCDEFGHIJ012345", "ghp_0123"),
    ("github_pat_11ABCDEFG0abcdefghijkl_0123456789", "11ABCDEFG0abcdefghijkl"),
    ("glpat-AbCdEfGhIjKlMnOpQrSt", "AbCdEfGhIjKlMnOpQrSt"),
    ("OPENAI: sk-proj-AbCd1234EfGh5678IjKl9012", "AbCd1234EfGh5678IjKl9012"),
    ("stripe sk_live_4eC39HqLyjWDarjtT1zdp7dc", "4eC39HqLyjWDarjtT1zdp7dc"),
    ("AKIAIOSFODNN7EXAMPLE wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "wJalrXUtnFEMI"),
    ("id AKIAIOSFODNN7EXAMPLE", "IOSFODNN7EXAMPLE"),
    ("aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "wJalrXUtnFEMI"),
    ("AWS_SESSION_TOKEN=FwoGZXIvYXdzEBYaDHhBTEXAMPLE", "FwoGZXIvYXdz"),
    (f"wandb: using API key {HEX40}", HEX40),
    (f"$ wandb login --relogin {HEX40}", HEX40),
    (f"wandb.login(key='{HEX40}')", HEX40),
    (f"machine api.wandb.ai login user password {HEX40}", HEX40),
    (f"  password {HEX40}", HEX40),
    ("machine github.com\n  login ada\n  password hunter2hunter2", "hunter2"),
    ("jwt eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9", "eyJzdWIiOiIx"),
    ("Authorization: Bearer abcDEF123456.xyz", "abcDEF123456"),
    ("Authorization: Basic YWRhOmh1bnRlcjI=", "YWRhOmh1bnRlcjI"),
    ("Authorization: token 1234567890abcdef", "1234567890abcdef"),
    ("{'Authorization': 'Bearer abcDEF123456'}", "abcDEF123456"),
    ("curl -u ada:hunter2 https://host/x", "hunter2"),
    ("git clone https://ada:hunter2@example.org/x.git", "hunter2"),
    ("git clone https://hunter2token@example.org/x.git", "hunter2token"),
    ("postgres://ada:p/ss:w0rd@db:5432/runs", "p/ss"),
    ("DATABASE_URL=postgresql+psycopg2://ada:hunter2@db/runs", "hunter2"),
    ("redis://:hunter2@cache:6379/0", "hunter2"),
    ("sshpass -p hunter2 ssh node1", "hunter2"),
    ("mysql -uada -phunter2 runs", "hunter2"),
    ("docker login -u ada -p hunter2 registry", "hunter2"),
    ("train.py -p Hunter2Hunter2 --epochs 3", "Hunter2Hunter2"),
    ("python train.py --token abc", "abc"),
    ("python train.py --hub-token 'a b c'", "a b c"),
    ("python train.py --api-key=abc", "abc"),
    ("python train.py --db_password hunter2", "hunter2"),
    ('{"password": "x y", "n": 1}', "x y"),
    ('"{\\"api_key\\": \\"hunter2\\"}"', "hunter2"),
    ("client_secret: hunter2", "hunter2"),
    ("os.environ['HF_TOKEN'] = 'hunter2'", "hunter2"),
    ("os.environ.setdefault('HF_TOKEN', 'hunter2')", "hunter2"),
    ("parser.add_argument('--token', type=str, default='hunter2')", "hunter2"),
    ("https://x.blob.core.windows.net/c?sv=2020-08-04&sig=aBc%2FdEf%3D&se=2026", "aBc%2FdEf"),
    ("sig=aBcDeFgHiJkLmNoPqRsTuVwXyZ012345678901", "aBcDeFgHiJ"),
    ("AccountName=x;AccountKey=aBcDeFgHiJkLmNoPqRsTuVwXyZ==;EndpointSuffix=y", "aBcDeFgHiJ"),
    ("https://s3.aws/x?X-Amz-Credential=AKIA/1&X-Amz-Signature=fe5f80f77d5fa3beca038a", "fe5f80f77d5f"),
    ("slack xoxb-123456789012-abcdefGHIJKL", "123456789012"),
    ("https://hooks.slack.com/services/T000/B000/XXXXYYYYZZZZ", "XXXXYYYYZZZZ"),
    ("https://discord.com/api/webhooks/123456/abcDEF-ghi", "abcDEF-ghi"),
    ("maps AIzaSyA1234567890abcdefghijklmnopqrstuv", "SyA1234567890"),
    ("https://maps.example/api?key=hunter2&x=1", "hunter2"),
    ("Cookie: session=abc123; csrftoken=def456", "abc123"),
    ("Set-Cookie: sid=abc123; Path=/", "abc123"),
    ("NEPTUNE_API_TOKEN=eyJhcGlfYWRkcmVzcyI6Imh0dHBzOi8vYXBwLm5lcHR1bmUuYWkifQ==", "eyJhcGlf"),
    ("COMET_API_KEY: abcdefGHIJ", "abcdefGHIJ"),
    ("telegram 123456789:AAabcdefghijklmnopqrstuvwxyz0123456", "abcdefghijklmnop"),
    (PEM, "MIIEowIBAAKCAQEA"),
    (
        '"private_key": "-----BEGIN PRIVATE KEY-----\\nMIIEvQIBADANBgkqhkiG9w0BAQEF\\n-----END PRIVATE KEY-----\\n"',
        "MIIEvQ",
    ),
    ("key = '''-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEF\n-----END PRIVATE KEY-----'''", "MIIEvQ"),
]
TRADE = [
    "--max-tokens 128 tokenizer=bpe tokens=7 max_token=512 --num-token 4",
    "tokens=512 tokens/s: 8812.3 n_tokens: 7 tokens_per_second=1.5e4",
    "Token indices sequence length is longer than the specified maximum (712 > 512)",
    "pad_token='<pad>' eos_token=</s> bos_token: <s> mask_token=[MASK] token: 17",
    "cls_token = self.cls_token.expand(B, -1, -1); token_type_ids=None token_ids=[1, 2]",
    "key_padding_mask=None attn.key.weight key=encoder.layers.0 KeyError: 'model.key'",
    "monkey: 3 keyboard=de turkey=1 author=Ada hotkey=x keys=12 primary_key=id sort_key=loss",
    "MASTER_ADDR=10.0.0.1 MASTER_PORT=29500 -p 29500 --port 29500 -p checkpoints/last.pt -p resnet50",
    f"git commit {HEX40}, tree {HEX40}",
    f"tensor hash sha256:{HEX40}{HEX40[:24]} rolling_hash=0x9af3b2c1d4e5f601",
    "https://download.pytorch.org/whl/cpu/torch-2.13.0.whl file:///data/x.h5 tcp://10.0.0.1:29500",
    "tcp://10.0.0.1:29500/rank@0 user@host:/data mailto ada@example.org",
    "basic authentication, Basic configuration and a bearer of bad news",
    'File "/home/ada/auth_token.py", line 3, in secret_sauce',
    "auth_token.py:31: RuntimeError: secrets.py:12",
    "the password is asked for; a token was passed; the secret of good training",
    "RuntimeError: Expected tensor for argument #1 'indices' to have scalar type Long",
    "sk-learn sk-image xoxo asian akiabara risk-averse-estimation-of-things-that-are-long",
    "loss=0.1234 acc: 97.2% lr=1e-4 cookie cutter: 3 cookies",
    "token = None, password = '', api_key=$API_KEY, secret: ${SECRET}",
    "forward_pass: 3.2 backward_pass=done bypass=1 compass: north",
    "ProcessGroupGloo key is default_pg/0//0, store key 'worker/0' wait timeout",
]


@pytest.mark.parametrize(("text", "secret"), PLANTED)
def test_a_planted_secret_does_not_come_through(text: str, secret: str) -> None:
    shown = redaction.text(text)
    assert secret not in shown
    assert redaction.HIDDEN in shown
    assert shown.count("\n") == text.count("\n")
    assert redaction.text(shown) == shown


@pytest.mark.parametrize(("text", "secret"), PLANTED)
def test_a_stream_cut_anywhere_lets_no_secret_through(text: str, secret: str) -> None:
    data = f"epoch 1\n{text}\nepoch 2 \xe9".encode()
    for size in (1, 7, 64):
        stream = redaction.Stream()
        shown = b"".join(stream.feed(data[at : at + size]) for at in range(0, len(data), size)) + stream.flush()
        assert secret not in shown.decode()
        assert shown.decode() == redaction.text(data.decode("latin-1")).encode("latin-1").decode()


@pytest.mark.parametrize("text", TRADE)
def test_words_of_the_trade_come_through_unchanged(text: str) -> None:
    assert redaction.text(text) == text
    assert redaction.text(f"{text}\n" * 800) == f"{text}\n" * 800


def test_a_private_key_ends_where_it_ends() -> None:
    assert redaction.text(f"before\n{PEM}\nafter") == (
        "before\n-----BEGIN RSA PRIVATE KEY-----\n[redacted]\n\n"
        "[redacted]\n[redacted]\n[redacted]\n[redacted]\n[redacted]\n-----END RSA PRIVATE KEY-----\nafter"
    )
    asked = 'if "-----BEGIN PRIVATE KEY-----" in text:\n    raise ValueError("a key")\nx = 1'
    assert redaction.text(asked) == asked


SOURCE = """
import os
TOKEN = "hunter2"  # of the hub
token = os.environ["HF_TOKEN"]
password: str = get_password(user)
api_key = f"abc{user}"
client = Client(api_key="hunter2", token=token, url="https://ada:hunter2@host/x")
def forward(self, x, key_padding_mask=None, token=None):
    cls_token = self.cls_token.expand(x.shape[0], -1, -1)
    secret = nn.Parameter(torch.zeros(1, 1, 8))
    tokenizer.pad_token = "<pad>"
    return {"token": token, "password": "hunter2", "api_key": keys["api_key"]}
"""


def test_python_source_still_parses_with_the_same_lines_and_without_its_secrets() -> None:
    shown = redaction.source(SOURCE, python=True)
    assert shown == (
        SOURCE.replace('"hunter2"', '"[redacted]"')
        .replace("https://ada:hunter2@", "https://[redacted]@")
        .replace('f"abc{user}"', '"[redacted]"')
    )
    ast.parse(shown)


def test_a_shell_script_keeps_its_lines() -> None:
    script = "#!/bin/bash\nset -e\nexport WANDB_API_KEY=hunter2\ntorchrun --nproc-per-node 2 train.py | tee log\n"
    assert redaction.source(script, python=False) == script.replace("hunter2", "[redacted]")


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (("python", "t.py", "--token", "hunter 2"), ("python", "t.py", "--token", "[redacted]")),
        (("python", "t.py", "--max-token", "512"), ("python", "t.py", "--max-token", "512")),
        (("t.py", "--api-key=x", "-p", "29500"), ("t.py", "--api-key=[redacted]", "-p", "29500")),
        (("/usr/bin/sshpass", "-p", "hunter2", "ssh"), ("/usr/bin/sshpass", "-p", "[redacted]", "ssh")),
        (("bash", "-c", "HF_TOKEN=abc python t.py"), ("bash", "-c", "HF_TOKEN=[redacted] python t.py")),
        (("t.py", "-p", "model.yaml", "--resume"), ("t.py", "-p", "model.yaml", "--resume")),
    ],
)
def test_a_command_line_is_hidden_word_by_word(words: tuple[str, ...], shown: tuple[str, ...]) -> None:
    assert redaction.argv(words) == shown


def test_json_hides_what_stands_below_the_name_of_a_secret() -> None:
    value = {"token": "abc", "tokens": ["a"], "args": ["--password", "password=abc"], "key": "model.weight", "n": 1}
    assert redaction.json_value(value) == {
        "token": "[redacted]",
        "tokens": ["a"],
        "args": ["--password", "password=[redacted]"],
        "key": "model.weight",
        "n": 1,
    }


@pytest.mark.parametrize(
    "text",
    [
        "step 12 loss 0.123 tokens/s 1234 lr 1e-4 [rank0]: all good here\n" * 16_000,
        "a" * 1_000_000,
        "token" * 200_000,
        "key=" * 250_000,
        "QUJD" * 250_000 + "\n",
        "://a:b" * 160_000,
        "-----BEGIN PRIVATE KEY-----\n" * 116_000,
        'password="' * 100_000,
        "cookie: " * 120_000,
        "--token " * 120_000,
    ],
    ids=["log", "one word", "token", "key", "base64", "urls", "pem", "quotes", "cookies", "options"],
)
def test_a_megabyte_of_anything_takes_work_in_proportion_to_its_length(text: str) -> None:
    def seconds(part: str) -> float:
        began = time.thread_time()
        redaction.text(part)
        return time.thread_time() - began

    eighth = min(seconds(text[: len(text) // 8]) for _ in range(3))  # 64 times as much is quadratic
    assert seconds(text) < 24 * eighth + 0.1


def test_a_token_behind_an_escaped_line_end_is_found() -> None:
    token, password = "ghp_" + "a1B2" * 9, "x7Gh29sdKq"
    line = rf"raise RuntimeError('first\n{token}\\npassword={password}\n--api-key {password}\nC:\new')"
    assert redaction.text(line) == (
        r"raise RuntimeError('first\n[redacted]\\npassword=[redacted]\n--api-key [redacted]\nC:\new')"
    )


def test_a_key_is_hidden_behind_the_prefixes_of_a_log_and_between_lines_of_others() -> None:
    body = "MIIEpAIBAAKCAQEA0Z3VS5JJcds3xfn1ygWyF8PbnGy0AHB7MaK5ZC1yVv3RtGqu"
    text = f"[rank1]: -----BEGIN RSA PRIVATE KEY-----\n[rank1]: {body}\nstep 3 of 9, loss 0.1\n[rank1]: {body}\n"
    shown = redaction.text(text)
    assert body not in shown
    assert "step 3 of 9, loss 0.1" in shown


def test_what_stands_beside_a_key_on_its_line_is_hidden_too() -> None:
    line = "keys = ['hf_" + "a1B2" * 9 + "', '-----BEGIN RSA PRIVATE KEY-----\\n" + "A" * 64 + "']"
    assert redaction.text(line) == r"keys = ['[redacted]', '-----BEGIN RSA PRIVATE KEY-----\[redacted]']"


@pytest.mark.parametrize(
    ("glued", "secret"),
    [
        ("-----END RSA PRIVATE KEY-----WANDB_API_KEY=fa32924b5508e6d98842202500d6bae82454e433", "fa32924b5508e6d98"),
        ("-----END RSA PRIVATE KEY-------api-key Ze6h4q8OMtawZAET4iRq", "Ze6h4q8OMtawZAET4iRq"),
        ("AWS_SECRET_ACCESS_KEY=5X7Xu8UJpCurV0okiveJdXD6ju3D--api-key Ze6h4q8OMtawZAET4iRq", "Ze6h4q8OMtawZAET4iRq"),
        ("Authorization: Bearer iniA8xAryZ13Bv705qcoXj0Qpostgres://bob:C4vhtw50qDuhfa@db/runs", "C4vhtw50qDuhfa"),
    ],
)
def test_what_two_unbuffered_ranks_wrote_on_one_line_is_hidden_too(glued: str, secret: str) -> None:
    key = "-----BEGIN RSA PRIVATE KEY-----\n10HtxopYUGWNGsEDryIxKXXHQyXl\n"
    assert secret not in redaction.text(f"{key}{glued}" if glued.startswith("-----END") else glued)
