"""`python -m rankadapters` is the command `rankadapters`."""

import sys

from rankadapters.cli import main

if __name__ == "__main__":
    sys.exit(main())
