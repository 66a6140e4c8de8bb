"""``python -m hybridalloc``: the command line."""

import sys

from hybridalloc.cli import main

if __name__ == "__main__":
    sys.exit(main())
