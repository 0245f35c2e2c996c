"""The only code of the doctor that touches the machine."""
