"""The README and the commands' own texts, as `ups-doctor help` and a man page show them. Pure; has no words itself.

`readme.py` finds the topics in the README's text, `plain_text.py` makes lines for a terminal of one, and `man_page.py`
writes roff from what the commands say of themselves. What they say is collected by the command, which knows click.
"""
