"""The flat package names belong to this distribution alone."""

from importlib.metadata import packages_distributions

import pytest


@pytest.mark.parametrize("name", ["domain", "daemon", "connectors", "models", "reports", "migrations"])
def test_no_other_distribution_owns_one_of_our_package_names(name: str) -> None:
    """Another owner (python-daemon installs `daemon`) would shadow ours without a word."""
    assert set(packages_distributions().get(name, ["claimwatch"])) == {"claimwatch"}
