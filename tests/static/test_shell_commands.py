"""What is read out of shell scripts, Dockerfiles and YAML: commands, their lines, and what is known where they run."""

from __future__ import annotations

import time

import pytest

from diagnostics.core.findings import Confidence
from diagnostics.static.launch_files.dockerfile import instructions
from diagnostics.static.launch_files.embedded_scripts import embedded_scripts
from diagnostics.static.launch_files.launcher_commands import launcher_calls
from diagnostics.static.launch_files.literal_secrets import is_secret_literal
from diagnostics.static.launch_files.shell_commands import commands
from diagnostics.static.launch_files.shell_lexer import ShellError
from diagnostics.static.launch_files.shell_parser import parse
from diagnostics.static.program.project_file import FileKind, ProjectFile


def ran(text: str) -> list[tuple[int, tuple[str, ...]]]:
    return [(one.line, one.words) for one in commands(parse(text)) if one.words]


def of_file(kind: FileKind, text: str) -> list[tuple[int, tuple[str, ...], list[str]]]:
    file = ProjectFile("file", text.encode(), kind)
    return [(one.line, one.words, sorted(one.options)) for script in embedded_scripts(file) for one in script.commands]


def test_a_dollar_before_a_single_quote_is_text_in_double_quotes() -> None:
    assert ran("""X="s/\\.$'/" Y="$'" echo "a$'b" $'c d'\n""") == [(1, ("echo", "a$'b", "$'c d'"))]


def test_quotes_continued_lines_comments_and_heredocs_are_read_as_the_shell_reads_them() -> None:
    text = """#!/bin/bash
echo 'a b' "c # d" e\\ f  # torchrun x.py
torchrun --nproc-per-node 2 \\
    train.py 2>&1 | tee log
cat <<'EOF'
torchrun y.py || true
EOF
if [[ $a < b && -n "$c" ]]; then exit 3; fi
"""
    assert ran(text) == [
        (2, ("echo", "a b", "c # d", "e f")),
        (3, ("torchrun", "--nproc-per-node", "2", "train.py")),
        (4, ("tee", "log")),
        (5, ("cat",)),
        (8, ("[[", "$a", "<", "b", "&&", "-n", "$c", "]]")),
        (8, ("exit", "3")),
    ]


def test_variables_that_the_script_sets_are_expanded_and_all_others_stay_as_they_are() -> None:
    text = """GPUS=4
ARGS="--nproc-per-node $GPUS --nnodes $NODES"
LIST=(--lr 0.1)
LIST+=(--seed 1)
torchrun $ARGS train.py "${LIST[@]}" ${PORT:-29500}
[ -z "$GPUS" ] && GPUS=8
echo $GPUS
"""
    assert ran(text)[0][1] == (
        "torchrun", "--nproc-per-node", "4", "--nnodes", "$NODES", "train.py", "--lr", "0.1", "--seed", "1",
        "${PORT:-29500}",
    )  # fmt: skip
    assert ran(text)[-1][1] == ("echo", "$GPUS")


def test_what_bash_is_given_as_text_is_read_with_its_own_options() -> None:
    found = commands(parse('set -e\nsudo bash -eo pipefail -c "cd x\ntorchrun train.py | tee log"\n'))
    assert [(one.line, one.words[0], sorted(one.options)) for one in found][2:] == [
        (2, "cd", ["errexit", "pipefail"]),
        (3, "torchrun", ["errexit", "pipefail"]),
        (3, "tee", ["errexit", "pipefail"]),
    ]


@pytest.mark.parametrize("text", ["if a; then b", "echo 'x", "a=$(b", "done", "{ a; ", "case x in a) b", "(" * 500])
def test_what_is_not_closed_is_no_script(text: str) -> None:
    with pytest.raises(ShellError):
        parse(text)


def test_launchers_inside_wrappers_are_told_apart() -> None:
    words = [
        "sudo",
        "nohup",
        "srun",
        "-n",
        "2",
        "--gpus=4",
        "torchrun",
        "--standalone",
        "--nproc_per_node=4",
        "--log-dir",
        "logs",
        "train.py",
        "--lr",
        "1",
    ]
    assert [(one.kind, one.ranks_here, one.machines, one.script, one.arguments) for one in launcher_calls(words)] == [
        ("srun", 2, 1, "", ()),
        ("torchrun", 4, 1, "train.py", ("--lr", "1")),
    ]
    module = ["python", "-m", "torch.distributed.launch", "--nproc_per_node", "2", "-m", "pkg.train", "--x"]
    assert [(one.kind, one.script, one.is_module) for one in launcher_calls(module)] == [("launch", "pkg.train", True)]


def test_a_workflow_without_a_shell_has_errexit_alone_and_one_with_bash_has_pipefail() -> None:
    text = """jobs:
  a:
    steps:
      - run: |
          python a.py
          python b.py
      - shell: bash
        run: python c.py
"""
    assert of_file(FileKind.YAML, text) == [
        (5, ("python", "a.py"), ["errexit"]),
        (6, ("python", "b.py"), ["errexit"]),
        (8, ("python", "c.py"), ["errexit", "pipefail"]),
    ]


def test_templates_alias_bombs_and_deep_nests_are_left_out_in_no_time() -> None:
    bomb = "a: &a0 [python]\n" + "".join(f"b{i}: &a{i + 1} [*a{i}, *a{i}]\n" for i in range(60))
    began = time.monotonic()
    for text in (
        "run: python\nb: " + "{a: " * 50_000,
        "run: python\nb: " + "- " * 50_000,
        "run: {{ .Values.command }}\n- python",
        "[" * 100_000,
        bomb,
        "run: python\n\t- x: ]",
    ):
        assert of_file(FileKind.YAML, text) == []
    assert time.monotonic() - began < 5


def test_a_dockerfile_is_read_by_instruction_with_comments_between_continued_lines() -> None:
    text = 'FROM x\nRUN a \\\n  # why\n  && b\nCMD ["python", "train.py"]\n'
    assert [(one.name, one.line, one.words) for one in instructions(text)] == [
        ("FROM", 1, ()),
        ("RUN", 2, ()),
        ("CMD", 5, ("python", "train.py")),
    ]
    assert of_file(FileKind.DOCKERFILE, text) == [
        (2, ("a",), []),
        (4, ("b",), []),
        (5, ("python", "train.py"), []),
    ]


def test_long_scripts_take_time_in_proportion_to_their_length() -> None:
    began = time.monotonic()
    for text in ("a=b\n" * 5000, "a|" * 5000 + "a", 'a="$a$a"\n' * 60, "(" * 50_000, '"$(' * 20_000, "x=(" * 5000):
        of_file(FileKind.SHELL, text)
    assert time.monotonic() - began < 20


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("WANDB_API_KEY", "0a1b2c3d4e5f60718293a4b5c6d7e8f901a2b3c4", Confidence.CONFIRMED),
        ("POSTGRES_PASSWORD", "hunter2Hunter2", Confidence.LIKELY),
        ("WANDB_API_KEY", "your_api_key_here", None),
        ("HF_TOKEN", "${HF_TOKEN}", None),
        ("SECRET_FILE", "/run/secrets/key", None),
        ("fp32_params_key", "fp32_from_fp16_params", None),
        ("PAD_TOKEN", "__pad__", None),
    ],
)
def test_secrets_are_told_from_placeholders_references_and_names(
    name: str, value: str, expected: Confidence | None
) -> None:
    assert is_secret_literal(name, value) == expected


def test_a_script_that_a_shell_reads_from_its_input_is_read_and_what_a_script_file_reads_there_is_not() -> None:
    def behind(words: str) -> list[tuple[int, tuple[str, ...]]]:
        return ran(f"srun {words} <<'END'\ntorchrun train.py\nEND\n")[1:]

    read = [(2, ("torchrun", "train.py"))]
    assert [behind(one) for one in ("bash", "bash -l", "bash -s", "bash -s -- 4", "bash -es 4")] == [read] * 5
    assert [behind(one) for one in ("bash run.sh", "bash -e run.sh", "cat -s")] == [[]] * 3


def test_a_launcher_in_a_variable_of_make_stands_in_the_recipe_itself_and_all_else_stays_a_variable() -> None:
    text = "PYTHON ?= python3 -u\nOUT := runs\nRUN = $(PYTHON)\n\n"
    text += "train:\n\t$(PYTHON) train.py --out $(OUT)\n\t$(RUN) x.py\n"
    assert of_file(FileKind.MAKEFILE, text) == [(6, ("python3", "-u", "train.py", "--out", "${OUT}"), [])]
