"""``python -m recordmill``: the command line, for an interpreter whose scripts are not on the path."""

import sys

from recordmill.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
