"""`python -m fcpair` is `fcpair`."""

from fcpair.cli import main

if __name__ == "__main__":
    main(prog_name="fcpair")
