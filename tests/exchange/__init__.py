"""The real annotation tools, answered over their own HTTP: `make test-exchange` installs and runs them."""
