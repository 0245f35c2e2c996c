from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Annotated, Literal

import pytest

from diagnostics.core.errors import UsageError
from diagnostics.core.strict_yaml import Range, load
from diagnostics.core.thresholds import Thresholds, find, read_thresholds

PROJECT = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True, kw_only=True)
class Inner:
    lr: float = 0.1
    kind: Literal["adam", "sgd"] = "adam"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outer:
    name: str
    count: int = 1
    fast: bool = False
    folder: Path | None = None
    sizes: tuple[int, ...] = (1,)
    inner: Inner = field(default_factory=Inner)

    def __post_init__(self) -> None:
        if self.count < 0:
            raise ValueError(f"count is {self.count}, it cannot be negative")


def read(tmp_path: Path, text: str, overrides: Sequence[str] = (), **others: str) -> Outer:
    for name, content in others.items():
        (tmp_path / f"{name}.yaml").write_text(content)
    (tmp_path / "main.yaml").write_text(text)
    return load(tmp_path / "main.yaml", Outer, overrides)


def refusal(tmp_path: Path, text: str, overrides: Sequence[str] = (), **others: str) -> str:
    with pytest.raises(UsageError) as error:
        read(tmp_path, text, overrides, **others)
    assert error.value.exit_code == 2
    return error.value.message.replace(f"{tmp_path}/", "")


def test_every_type_is_read(tmp_path: Path) -> None:
    text = "name: a\ncount: 3\nfast: true\nfolder: /data\nsizes: [1, 2]\ninner: {lr: 1e-3, kind: sgd}\n"
    assert read(tmp_path, text) == Outer(
        name="a", count=3, fast=True, folder=Path("/data"), sizes=(1, 2), inner=Inner(lr=1e-3, kind="sgd")
    )


def test_what_is_not_said_keeps_its_default(tmp_path: Path) -> None:
    assert read(tmp_path, "name: a\n") == Outer(name="a")
    assert read(tmp_path, "name: a\ninner:\nfolder:\n") == Outer(name="a")


def test_whole_numbers_and_fractions_convert_where_nothing_is_lost(tmp_path: Path) -> None:
    assert read(tmp_path, "name: a\ncount: 3.0\ninner: {lr: 1}\n") == Outer(name="a", count=3, inner=Inner(lr=1.0))
    assert read(tmp_path, "name: '1e3'\n").name == "1e3"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nme: a\n", "unknown key 'nme' in main.yaml:1; did you mean 'name'?"),
        ("name: a\ninner:\n  rl: 1\n", "unknown key 'inner.rl' in main.yaml:3; did you mean 'lr'?"),
        (
            "name: a\nzzzzzz: 1\n",
            "unknown key 'zzzzzz' in main.yaml:2; known here: name, count, fast, folder, sizes, inner",
        ),
        ("count: 1\n", "main.yaml:1: key 'name' is missing"),
        ("", "main.yaml:1: key 'name' is missing"),
        ("- a\n- b\n", "main.yaml:1: the file must be a mapping of keys, got a list of 2"),
        ("text\n", "main.yaml:1: the file must be a mapping of keys, got 'text'"),
        ("name: a\ncount: many\n", "main.yaml:2: count must be a whole number, got 'many'"),
        ("name: a\ncount: 1.5\n", "main.yaml:2: count must be a whole number, got 1.5"),
        ("name: a\ncount: true\n", "main.yaml:2: count must be a whole number, got True"),
        ("name: a\ncount:\n", "main.yaml:2: count must be a whole number, got nothing"),
        ("name: a\nfast: 1\n", "main.yaml:2: fast must be true or false, got 1"),
        ("name: 3\n", "main.yaml:1: name must be text, got 3"),
        ("name: a\nfolder: 3\n", "main.yaml:2: folder must be a path, got 3"),
        ("name: a\nsizes: 3\n", "main.yaml:2: sizes must be a list, got 3"),
        ("name: a\nsizes:\n- 1\n- x\n", "main.yaml:4: sizes[1] must be a whole number, got 'x'"),
        ("name: a\ninner: 3\n", "main.yaml:2: inner must be a mapping of keys, got 3"),
        ("name: a\ninner: {lr: fast}\n", "main.yaml:2: inner.lr must be a number, got 'fast'"),
        ("name: a\ninner: {lr: true}\n", "main.yaml:2: inner.lr must be a number, got True"),
        ("name: {b: 1}\n", "main.yaml:1: name must be text, got a mapping with b"),
        ("name: {}\n", "main.yaml:1: name must be text, got a mapping with no keys"),
        (
            "name: a\ninner: {kind: adm}\n",
            "main.yaml:2: inner.kind is 'adm'; it takes one of adam, sgd; did you mean 'adam'?",
        ),
        ("name: a\ninner: {kind: 7}\n", "main.yaml:2: inner.kind is 7; it takes one of adam, sgd"),
        ("name: a\nname: b\n", "main.yaml:2: key 'name' stands twice, first at main.yaml:1"),
        ("name: a\ncount: -1\n", "main.yaml:1: count is -1, it cannot be negative"),
        ("name: [a\n", "main.yaml:2 is not valid YAML: expected ',' or ']', but got '<stream end>'"),
        ("name: a\ninclude: 3\n", "main.yaml:2: include takes file names, got 3"),
    ],
)
def test_what_does_not_fit_names_its_line(tmp_path: Path, text: str, message: str) -> None:
    assert refusal(tmp_path, text) == message


def test_includes_are_merged_below_what_the_file_says(tmp_path: Path) -> None:
    read_in = read(
        tmp_path,
        "include: [first.yaml, second.yaml]\ninner: {kind: sgd}\n",
        first="name: first\ncount: 5\ninner: {lr: 0.5}\n",
        second="name: second\n",
    )
    assert read_in == Outer(name="second", count=5, inner=Inner(lr=0.5, kind="sgd"))


def test_a_wrong_value_of_an_included_file_names_that_file(tmp_path: Path) -> None:
    assert refusal(tmp_path, "include: base.yaml\nname: a\n", base="# a comment\ncount: x\n") == (
        "base.yaml:2: count must be a whole number, got 'x'"
    )


def test_a_file_that_includes_itself_is_refused(tmp_path: Path) -> None:
    assert refusal(tmp_path, "include: other.yaml\n", other="include: main.yaml\n") == (
        "main.yaml includes itself: main.yaml -> other.yaml -> main.yaml"
    )


def test_an_override_comes_last_and_may_reach_deep(tmp_path: Path) -> None:
    assert read(tmp_path, "name: a\n", ["inner.lr=2", "name=b", "sizes=[3, 4]", "folder="]) == Outer(
        name="b", sizes=(3, 4), inner=Inner(lr=2.0)
    )


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("name", "--set name: write it as KEY.KEY=VALUE, for example --set data.samples=64"),
        ("=3", "--set =3: write it as KEY.KEY=VALUE, for example --set data.samples=64"),
        ("name=[", "--set name=[: the value is not valid YAML"),
        ("cuont=3", "unknown key 'cuont' in --set cuont=3; did you mean 'count'?"),
        ("count=x", "--set count=x: count must be a whole number, got 'x'"),
        ("inner.lr.deep=1", "--set inner.lr.deep=1: inner.lr must be a number, got a mapping with deep"),
    ],
)
def test_a_wrong_override_names_itself(tmp_path: Path, override: str, message: str) -> None:
    assert refusal(tmp_path, "name: a\n", [override]) == message


def test_a_file_that_cannot_be_read_is_one_sentence_with_a_remedy(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as error:
        load(tmp_path / "absent.yaml", Outer)
    assert (error.value.message, error.value.hint) == (
        f"cannot read the configuration {tmp_path}/absent.yaml: no such file or folder",
        f"check the spelling: ls -l {tmp_path}",
    )
    with pytest.raises(UsageError, match="it is a folder, a file was expected"):
        load(tmp_path, Outer)


def test_a_binary_file_is_no_configuration(tmp_path: Path) -> None:
    (tmp_path / "main.yaml").write_bytes(b"name: \xff\xfe\n")
    with pytest.raises(UsageError, match=r"main\.yaml is not a text file \(invalid start byte at byte 6\)"):
        load(tmp_path / "main.yaml", Outer)


def test_doctor_yaml_is_in_step_with_the_built_in_limits() -> None:
    path = PROJECT / "configs" / "doctor.yaml"
    said = [line.partition(":")[0] for line in path.read_text().splitlines() if line and line[0] not in "# "]
    assert read_thresholds(path) == Thresholds()
    assert said == [item.name for item in fields(Thresholds)]


def test_every_limit_of_doctor_yaml_is_introduced_by_its_reason() -> None:
    blocks = (PROJECT / "configs" / "doctor.yaml").read_text().strip().split("\n\n")[1:]
    assert [block for block in blocks if not block.startswith("# ")] == []
    assert len(blocks) == len(fields(Thresholds))


def test_the_named_file_comes_before_those_of_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert find() is None
    assert read_thresholds() == Thresholds()
    (tmp_path / "doctor.yaml").write_text("child_deadline_s: 5\n")
    assert read_thresholds() == Thresholds(child_deadline_s=5.0)
    (tmp_path / "configs").mkdir()
    (tmp_path / "configs" / "doctor.yaml").write_text("child_deadline_s: 6\n")
    assert read_thresholds() == Thresholds(child_deadline_s=6.0)
    (tmp_path / "own.yaml").write_text("timeuot: 3\nchild_deadline: 7\n")
    with pytest.raises(UsageError, match=r"unknown key 'timeuot' in own\.yaml:1"):
        read_thresholds(Path("own.yaml"))
    with pytest.raises(UsageError, match=r"absent\.yaml: no such file"):
        read_thresholds(Path("absent.yaml"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounded:
    count: Annotated[int, Range(least=1)] = 1
    port: Annotated[int, Range(least=1, most=65535)] | None = None
    share: Annotated[float, Range(least=0, below=1)] = 0.0
    rate: Annotated[float, Range(above=0)] = 1.0
    sizes: tuple[Annotated[int, Range(least=1)], ...] = ()


def bounded(tmp_path: Path, text: str) -> Bounded:
    (tmp_path / "main.yaml").write_text(text)
    return load(tmp_path / "main.yaml", Bounded)


def test_a_range_takes_its_bounds_and_nothing_beyond_them(tmp_path: Path) -> None:
    text = "count: 1\nport: 65535\nshare: 0\nrate: 1e-9\nsizes: [1, 2]\n"
    assert bounded(tmp_path, text) == Bounded(count=1, port=65535, share=0.0, rate=1e-9, sizes=(1, 2))
    assert bounded(tmp_path, "port: null\n") == Bounded()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("count: 0\n", "count must be at least 1, got 0"),
        ("port: 65536\n", "port must be at least 1 and at most 65535, got 65536"),
        ("share: 1.0\n", "share must be at least 0 and below 1, got 1.0"),
        ("rate: 0\n", "rate must be above 0, got 0.0"),
        ("rate: .nan\n", "rate must be a finite number, got nan"),
        ("rate: -.inf\n", "rate must be a finite number, got -inf"),
        ("sizes: [1, 0]\n", "sizes[1] must be at least 1, got 0"),
    ],
)
def test_a_number_outside_its_range_is_refused_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(UsageError) as error:
        bounded(tmp_path, text)
    assert error.value.message == f"{tmp_path}/main.yaml:1: {message}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name: 2026-13-45\n", "main.yaml:1: '2026-13-45' cannot be read: month must be in 1..12; quotes make it text"),
        ('name: "a\\0b"\n', "main.yaml:1: name holds a NUL character, got 'a\\x00b'"),
        (
            "name: a\ninner: &loop {lr: 1, more: *loop}\n",
            "main.yaml is nested too deeply, or an alias in it stands for itself",
        ),
        ("[" * 3000, "main.yaml is nested too deeply, or an alias in it stands for itself"),
    ],
)
def test_text_that_yaml_cannot_make_a_value_of_is_one_sentence(tmp_path: Path, text: str, message: str) -> None:
    assert refusal(tmp_path, text) == message


def test_a_circle_of_links_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "main.yaml").symlink_to(tmp_path / "main.yaml")
    with pytest.raises(UsageError) as error:
        load(tmp_path / "main.yaml", Outer)
    assert error.value.message == (
        f"cannot read the configuration {tmp_path}/main.yaml: its symbolic links lead in a circle"
    )


def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "main.yaml")
    with pytest.raises(UsageError) as refused:
        load(tmp_path / "main.yaml", Outer)
    assert refused.value.message == f"{tmp_path}/main.yaml is a pipe, a file was expected"


def test_aliases_of_aliases_are_one_sentence_at_once(tmp_path: Path) -> None:
    lines = ["a0: &a0 [1, 2, 3, 4, 5, 6, 7, 8, 9]"]
    lines += [f"a{at}: &a{at} [{', '.join([f'*a{at - 1}'] * 9)}]" for at in range(1, 40)]
    (tmp_path / "bomb.yaml").write_text("\n".join(lines))
    began = time.monotonic()
    with pytest.raises(UsageError) as refused:
        load(tmp_path / "bomb.yaml", Outer)
    assert refused.value.message.endswith(
        "bomb.yaml:5: with its aliases this stands for 66,430 values, a configuration has at most 20,000"
    )
    assert time.monotonic() - began < 1


def test_the_value_of_an_override_is_bounded_like_a_file(tmp_path: Path) -> None:
    (tmp_path / "main.yaml").write_text("inner: {lr: 1}")
    for value in ("[" * 3000, "&a [*a]"):
        with pytest.raises(UsageError, match="the value is not valid YAML"):
            load(tmp_path / "main.yaml", Outer, [f"inner.lr={value}"])


def test_a_file_too_large_for_a_configuration_is_refused_unread(tmp_path: Path) -> None:
    (tmp_path / "large.yaml").write_text("# nothing\n" * 110_000)
    with pytest.raises(UsageError, match=r"large\.yaml has 1,100,000 bytes, a configuration has at most 1,048,576"):
        load(tmp_path / "large.yaml", Outer)
