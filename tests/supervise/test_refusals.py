"""Whatever the system refuses, the job's output, status and files are those of a bare run."""

import pytest

import refusals


@pytest.fixture(scope="module")
def outcomes():
    return {outcome.name: outcome for outcome in refusals.outcomes()}


def test_nothing_that_is_denied_harms_the_job(outcomes):
    harmed = [f"{outcome.name}: {outcome.harm}" for outcome in outcomes.values() if outcome.harm]
    if harmed:
        pytest.fail(f"{len(harmed)} of {len(outcomes)}:\n" + "\n".join(harmed), pytrace=False)


def test_what_can_be_done_without_costs_nothing(outcomes):
    """The refusals of old kernels and old container profiles: the run is recorded all the same."""
    for name in ("close_range ENOSYS", "close_range EPERM", "pidfd_open ENOSYS", "pidfd_open EPERM", "flock ENOLCK", "prctl EPERM"):
        assert outcomes[name].lost in ("nothing that this run would show", "not tried: no seccomp filters here"), (name, outcomes[name].lost)


def test_the_recording_goes_on_without_threads_and_splice(outcomes):
    for name in ("splice ENOSYS", "tee EPERM", "thread EAGAIN"):
        assert outcomes[name].lost in ("output that a SIGKILL of whystop meets on its way", "not tried: no seccomp filters here"), name
