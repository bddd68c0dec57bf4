"""Run the command line with ``python -m recordmill``."""

import sys

from recordmill.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
