"""The one error of the judge that is the caller's to mend."""


class Misuse(Exception):
    """Wrong arguments, files or surroundings. Its text says what is wrong and how to mend it; the command exits 2."""
