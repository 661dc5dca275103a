"""`python -m jaxshrink`."""

import sys

from jaxshrink.cli import main

sys.exit(main())
