"""Code that the Python programs share: the first argument names the action, and an error is printed as its library words it."""
import os
import sys

KEY = os.environ.get("API_KEY", "")
URL = os.environ.get("API_URL", "")
FILE = os.environ["FILE"]
HEADERS = {"Authorization": f"Bearer {KEY}"}


def main(**actions):
    try:
        actions[sys.argv[1]]()
    except Exception as error:
        body = getattr(error, "body", "")
        sys.exit(f"{type(error).__name__}: {error} {body}")


def checked(status, text):
    """For libraries that treat an error status as an ordinary answer."""
    if status >= 400:
        raise RuntimeError(f"{status}: {text}")
    print(text)


def show(pieces):
    """Prints each piece as it arrives."""
    for piece in pieces:
        print(piece.decode() if isinstance(piece, bytes) else piece, end="", flush=True)
