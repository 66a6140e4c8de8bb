"""Ctrl-C, remembered."""

from __future__ import annotations

import signal
import threading

import pytest

from hybridalloc.interruption import Interruption


def press() -> None:
    signal.raise_signal(signal.SIGINT)


def test_ctrl_c_ends_what_runs_and_is_remembered_by_all_around_it() -> None:
    with Interruption() as outer:
        with Interruption() as inner, pytest.raises(KeyboardInterrupt):
            press()
        assert inner.happened
        with Interruption() as later:
            pass
    assert outer.happened
    assert not later.happened


def test_a_handler_of_the_users_own_still_decides_what_ctrl_c_does() -> None:
    pressed: list[int] = []
    previous = signal.signal(signal.SIGINT, lambda number, _: pressed.append(number))
    try:
        with Interruption() as interruption:
            press()
        assert interruption.happened
        press()
        assert pressed == [signal.SIGINT] * 2
    finally:
        signal.signal(signal.SIGINT, previous)


def test_where_ctrl_c_is_ignored_it_stays_so() -> None:
    previous = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with Interruption() as interruption:
            press()
        assert not interruption.happened
    finally:
        signal.signal(signal.SIGINT, previous)


def test_in_another_thread_nothing_is_installed() -> None:
    """Only the main thread may set handlers, and only it meets Ctrl-C."""
    failures: list[BaseException] = []

    def work() -> None:
        try:
            with Interruption() as interruption:
                assert not interruption.happened
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert failures == []
