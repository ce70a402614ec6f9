"""Errors that a person can do something about.

ClaimwatchError            one line for the person, exit code 2
├── BadInput               a file, row, field or argument is unusable
├── BadSetting             configuration is unusable
├── DatabaseUnavailable    Postgres cannot be reached
├── SchemaMismatch         the database is older or newer than this code
├── NotForgotten           what had to go may still be in a store that could not be reached
└── BadArtifact            weights or a model folder are not what they should be
"""


class ClaimwatchError(Exception):
    """Something went wrong that a person must look at."""

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message or self.__doc__)


class BadInput(ClaimwatchError):
    """The input cannot be used."""


class BadSetting(ClaimwatchError):
    """The configuration cannot be used."""


class DatabaseUnavailable(ClaimwatchError):
    """The database cannot be reached."""


class SchemaMismatch(ClaimwatchError):
    """The database schema does not fit this version."""


class NotForgotten(ClaimwatchError):
    """What had to go may still be there."""


class BadArtifact(ClaimwatchError):
    """A model file is not what its card says."""
