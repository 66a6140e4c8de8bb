"""What many tests need: the programs in the project, the full set, the command line."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest
from commands import Command, Ran
from hypothesis import HealthCheck, settings

from hybridalloc.cli import main

pytest_plugins = ("compiler_fixtures",)

ROOT = Path(__file__).parent.parent

# The machine may be busy, and the first examples compile and load what others do not.
settings.register_profile(
    "hybridalloc", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("hybridalloc")


@pytest.fixture(scope="session", autouse=True)
def _ctrl_c() -> None:
    """Ctrl-C is what it is on a terminal, wherever the tests run."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def root() -> Path:
    """The project's root folder."""
    return ROOT


@pytest.fixture(scope="session")
def bundled() -> Path:
    """The folder of the workloads that come with the project."""
    return ROOT / "examples" / "workloads"


@pytest.fixture(scope="session")
def shared_workloads() -> Path:
    """The folder of the full set of workloads; skips the test where there is none."""
    folder = ROOT.parent / "shared" / "workloads"
    if not folder.is_dir():
        pytest.skip("the full set of workloads is not beside the project")
    return folder


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Command:
    """Runs ``hybridalloc`` with arguments, in this process."""

    def run(*arguments: str | Path) -> Ran:
        capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        return Ran(code, *capsys.readouterr())

    return run
