"""Rewrites expected.txt of the rules named, of all without a name: python tests/audit/rules/update.py [A101 ...]."""

from __future__ import annotations

import sys

from rule_cases import codes, folder, rendered

for code in sys.argv[1:] or codes():
    path = folder(code) / "expected.txt"
    text = rendered(code)
    changed = not path.exists() or path.read_text(encoding="utf-8") != text
    path.write_text(text, encoding="utf-8")
    print(f"{code} {'rewritten, read it' if changed else 'unchanged'}: {path}")
