"""`python -m yarrow`."""

from yarrow.cli import main

if __name__ == "__main__":
    main(prog_name="yarrow")
