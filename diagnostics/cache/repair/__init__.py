"""The repair: plan, copies, verification, quarantine. No interruption, full disk or second writer loses a byte."""
