"""`ups-doctor scan-cache` and `fix-cache`: what is in files of tensors, and how they are made right.

Here: the contracts of a format, of a check across files and of a patch, and bounded reads. `scan/` leads the scan,
`repair/` the repair. A new format is one file in `formats/`, a check across files one in `folder_checks/`.
"""
