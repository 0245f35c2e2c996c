"""`ups-doctor lsp`: the audit of the file that is open in an editor, by the Language Server Protocol.

Here: which files belong to an open one, what is found in it, and the server that pygls runs; only `server.py` knows
pygls. It asks `audit` and adds nothing to what that finds.
"""
