import sys

from forging.long_run import main

sys.exit(main())
