"""``python -m tracegrad`` is the command ``tracegrad``."""

from tracegrad.cli.main import main

raise SystemExit(main())
