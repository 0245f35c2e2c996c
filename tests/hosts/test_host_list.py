"""Bad input to --hosts gets one clear sentence, and nothing is started."""

from __future__ import annotations

from pathlib import Path

import pytest

from diagnostics.core.errors import UsageError
from diagnostics.hosts.host_list import Host, read_hosts
from diagnostics.hosts.starting import remote_words


def test_names_addresses_and_comments_are_read(tmp_path: Path) -> None:
    file = tmp_path / "hosts"
    file.write_text("# the rack\nn1 10.0.0.1\n\nme@n2   # by its name\nn3 fd00::3\n")
    first, second, third = read_hosts(file)
    assert first == Host(name="n1", address="10.0.0.1")
    assert (second.name, second.plain_name, second.address) == ("me@n2", "n2", "")
    assert third.address == "fd00::3"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "no host is named in it"),
        ("# n1\n", "no host is named in it"),
        ("n1\n", "only one host, n1; there is nothing to compare it with"),
        ("n1\nn2\nn1\n", "the name n1 stands there twice"),
        ("n1 10.0.0.1\nn2 10.0.0.1\n", "the address 10.0.0.1 stands there twice"),
        ("n1 10.0.0.1 eth0\nn2\n", ":1: 'n1 10.0.0.1 eth0' is more than a name and an address"),
        ("n1\nn2 n2.lan\n", ":2: 'n2.lan' is no IP address"),
        ("n1\n-oProxyCommand=x\n", ":2: '-oProxyCommand=x' is no name of a host"),
    ],
)
def test_what_is_no_list_of_hosts_is_refused(tmp_path: Path, text: str, sentence: str) -> None:
    file = tmp_path / "hosts"
    file.write_text(text)
    with pytest.raises(UsageError) as refused:
        read_hosts(file)
    assert sentence in refused.value.message
    assert "\n" not in refused.value.message


def test_a_file_that_is_not_there_or_no_text_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"cannot read --hosts .*: no such file"):
        read_hosts(tmp_path / "nothing")
    (tmp_path / "image").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UsageError, match="no text file"):
        read_hosts(tmp_path / "image")


def test_a_remote_that_names_no_host_is_refused() -> None:
    host = Host(name="n1", address="10.0.0.1")
    assert remote_words("ssh -p 22 {host}", host) == ["ssh", "-p", "22", "n1", "sh"]
    with pytest.raises(UsageError, match=r"no \{host\} in it"):
        remote_words("ssh n1", host)
    with pytest.raises(UsageError, match="No closing quotation"):
        remote_words("ssh '{host}", host)
