"""Reading scheduled HLO: text to module to program."""
