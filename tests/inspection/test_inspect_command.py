from __future__ import annotations

import json
import os

import pytest
from click.testing import CliRunner
from inspected import MODELS, Ran, commands, in_one_child, line

from diagnostics.cli import doctor
from diagnostics.core.errors import UsageError

HANG_S = "30"


@pytest.fixture(scope="module")
def screens() -> dict[str, Ran]:
    asked = {
        "hang": ["faulty:Hangs", "--inputs", "faulty:batch", "--timeout", HANG_S],
        "crash": ["faulty.py:Crashes", "--inputs", "faulty.py:batch"],
        "json": ["faulty:talkative", "--inputs", "faulty:batch", "--json"],
        "fault": ["faulty:BufferNeededByBackward", "--inputs", "faulty:batch"],
        "raises": ["faulty:raises", "-v"],
        "unguarded": ["unguarded:make", "--inputs", "unguarded:batch"],
        "healthy": ["healthy:Transformer", "--inputs", "healthy:words", "-v"],
    }
    return dict(zip(asked, commands(*asked.values()), strict=True))


def at(mark: str) -> str:
    return line("faulty", mark)


def test_a_fault_is_shown_with_the_lines_that_prove_it(screens: dict[str, Ran]) -> None:
    saves, overwrites = at("saves"), at("overwrites")
    error = "one of the variables needed for gradient computation has been modified by an inplace operation"
    assert screens["fault"] == Ran(
        1,
        f"FAIL  A901  mul_ at {overwrites} overwrites buffer level that BufferNeededByBackward saved for backward\n"
        f"            read: {saves}: saved for backward here, at version 0\n"
        f"            read: {overwrites}: mul_ writes to it; version 2 in backward\n"
        f"            read: loss.backward(): {error}\n"
        "            fix:  write out of place: y = y + 1 for y += 1; or clone() what is changed\n"
        f"note  A903  forward writes the batch into level at {overwrites}\n"
        f"            read: {overwrites}: mul_ writes to level; two batches left two contents\n"
        "            fix:  under DDP rank 0's alone survive: all_reduce what all ranks should count in;\n"
        "                  broadcast_buffers=False where each rank keeps its own; nothing to do for a cache\n"
        "\n",
        "inspected faulty.BufferNeededByBackward: 2 modules, 72 parameters, 3 steps: 1 error, 1 note (S s)"
        "   explain: ups-doctor explain A901\n",
    )


def test_a_crash_names_the_module_entered_last_and_is_undecided(screens: dict[str, Ran]) -> None:
    assert screens["crash"] == Ran(
        3,
        "CRASH? A900  the child that ran the model: died of SIGSEGV in the forward of layers.1 (ReadsNull)"
        f" at {at('segfault')}\n\n",
        "inspected faulty.Crashes: 1 undecided (S s)   explain: ups-doctor explain A900\n",
    )


def test_a_hang_ends_at_the_deadline_and_names_the_line_that_never_comes_back(screens: dict[str, Ran]) -> None:
    assert screens["hang"] == Ran(
        3,
        f"HUNG  A900  the child that ran the model: did not finish within {HANG_S} s, stuck in the forward of"
        f" layers.1 (Waits) at {at('hang')}\n\n",
        "inspected faulty.Hangs: 1 undecided (S s)   explain: ups-doctor explain A900\n",
    )


def test_what_the_model_prints_does_not_reach_our_json(screens: dict[str, Ran]) -> None:
    code, out, err = screens["json"]
    answer = json.loads(out)
    assert (code, answer["exit_code"], answer["command"]) == (
        0,
        0,
        "ups-doctor inspect faulty:talkative --inputs faulty:batch",
    )
    assert {one["code"]: (one["status"], one["findings"]) for one in answer["outcomes"]} == {
        f"A9{number:02}": ("done", []) for number in range(15)
    }
    (model,) = answer["outcomes"][0]["measured"]["models"].values()
    assert model["modules"] == [
        {"path": "linear", "class_name": "Linear", "parameters": 72, "buffers": 0, "dtypes": ["float32"],
         "devices": ["cpu"]}
    ]  # fmt: skip
    assert err == "inspected faulty.talkative: 2 modules, 72 parameters, 3 steps, nothing found (S s)\n"


def test_a_factory_that_raises_is_wrong_use_with_its_traceback_on_request(screens: dict[str, Ran]) -> None:
    code, out, err = screens["raises"]
    lines = err.splitlines()
    assert (code, out) == (2, "")
    assert lines[0] == f"error: faulty:raises raised KeyError at {at('factory')}: 'width'"
    assert (lines[1], lines[-1]) == ("  Traceback (most recent call last):", "  KeyError: 'width'")


def test_a_script_that_runs_when_it_is_imported_is_named_by_its_own_line_and_how_to_guard_it(
    screens: dict[str, Ran],
) -> None:
    assert screens["unguarded"] == (
        2,
        "",
        f"error: unguarded:make: importing unguarded raised SystemExit at {line('unguarded', 'parses')}: 2\n"
        '  keep what runs out of the import: if __name__ == "__main__": main()\n'
        "  see its traceback: the same command with -v\n",
    )


def test_verbose_shows_every_check_and_the_modules_dtypes_and_devices(screens: dict[str, Ran]) -> None:
    code, out, err = screens["healthy"]
    marks = [text[:10] for text in out.splitlines() if text[:4] in ("ok  ", "note", "warn", "FAIL")]
    assert code == 0
    assert marks == [f"{'note' if number == 7 else 'ok  '}  A9{number:02}" for number in range(15)]
    table = out.splitlines()[
        out.splitlines().index("healthy.Transformer (Transformer); elements of its own, by module") :
    ]
    assert [" ".join(text.split()) for text in table[1:4]] == [
        "module class parameters buffers dtype device",
        "(itself) Transformer 0 42 float32 int64 cpu",
        "embedding Embedding 160 0 float32 cpu",
    ]
    assert err == "inspected healthy.Transformer: 25 modules, 1.4 k parameters, 3 steps, nothing found, 1 note (S s)\n"


def test_nothing_is_left_in_the_users_folder(screens: dict[str, Ran]) -> None:
    assert sorted(path.name for path in MODELS.iterdir()) == ["faulty.py", "healthy.py", "unguarded.py"]


def test_what_cannot_be_built_or_called_is_refused_with_what_is_needed() -> None:
    batches = {
        "raises": "batch",
        "needs_arguments": "batch",
        "no_module": "batch",
        "UnusedHed": "batch",
        "UnusedHead": "",
        "CalledTwice": "two_tensors",
        "Float64Buffer": "needs_arguments",
        "HiddenKept": "no_batch",
    }
    models = in_one_child("faulty", batches).models
    folder = f"{MODELS}/"
    said = [(model.refusal.message.replace(folder, ""), model.refusal.hint) for model in models if model.refusal]
    needed = "which returns a tensor, a tuple (args) or a dict (keywords)"
    assert [(text.replace(os.path.relpath(MODELS) + "/", ""), hint.replace(folder, "")) for text, hint in said] == [
        (f"faulty.py:raises raised KeyError at {at('factory')}: 'width'", ""),
        (
            "faulty.py:needs_arguments needs arguments (width)",
            "name a function without arguments: def make(): return needs_arguments(...)",
        ),
        ("faulty.py:no_module returned a int, not a torch.nn.Module", ""),
        ("faulty.py:UnusedHed: faulty.py has no 'UnusedHed'", "did you mean faulty.py:UnusedHead?"),
        ("UnusedHead.forward takes (x)", f"add --inputs module:make_batch, {needed}"),
        (
            "the inputs do not fit CalledTwice.forward(x: 'Tensor') -> 'Tensor': too many positional arguments",
            f"given: 2 positional; --inputs names a function, {needed}",
        ),
        ("faulty.py:needs_arguments needs arguments (width)", "name a function without arguments"),
        ("faulty.py:no_batch raised ValueError at " + at("no batch") + ": no data here", ""),
    ]


@pytest.mark.parametrize(
    ("words", "message", "hint"),
    [
        (
            ["train.py"],
            "train.py is no CONFIG: name what builds the model in it",
            "ups-doctor inspect train.py:make_model",
        ),
        (
            ["resnet"],
            "resnet: neither a file nor MODULE:FACTORY",
            "ups-doctor inspect package.model:Net --inputs package.data:make_batch",
        ),
        (
            ["m:Net", "--inputs", "batch"],
            "--inputs batch: a MODULE:NAME was expected",
            "for example: --inputs data:make_batch",
        ),
        (
            ["c.yaml", "--inputs", "m:batch"],
            "--inputs belongs to MODULE:FACTORY; a CONFIG's trainer makes its own batches",
            "",
        ),
        (["m:Net", "--set", "a=1"], "--set needs a CONFIG whose keys it overrides", ""),
        (["none.yaml"], "none.yaml: no such file", "check the spelling: ls -l ."),
    ],
)
def test_wrong_use_is_one_sentence_and_a_remedy(words: list[str], message: str, hint: str) -> None:
    result = CliRunner().invoke(doctor(), ["inspect", *words])
    assert isinstance(result.exception, UsageError)
    assert (result.exception.message, result.exception.hint, result.stdout) == (message, hint, "")
