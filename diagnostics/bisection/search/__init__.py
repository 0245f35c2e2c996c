"""Which configuration is tried next: delta debugging over settings, constructor arguments and the module tree.

Pure: asks an oracle and imports the root's values only.
"""
