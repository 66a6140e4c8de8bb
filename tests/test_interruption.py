"""Ctrl-C, remembered."""

from __future__ import annotations

import signal
import threading

import pytest

from hybridalloc.interruption import (
    Interruption,
    is_interrupt,
    postponed,
    until_interrupt,
)


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


def test_ctrl_c_waits_for_the_end_of_what_must_not_be_left_half_done() -> None:
    done: list[str] = []

    def work() -> None:
        with postponed():
            press()
            done.append("to the end")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert done == ["to the end"]
    with postponed(), postponed():
        pass


def test_what_must_be_done_whole_may_be_done_in_any_thread() -> None:
    done: list[bool] = []

    def work() -> None:
        with postponed():
            done.append(True)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done == [True]


def test_ctrl_c_ends_a_block_and_whatever_else_goes_wrong_is_handed_on() -> None:
    with until_interrupt():
        press()
    with until_interrupt():
        raise ImportError("instead of Ctrl-C") from KeyboardInterrupt()
    with pytest.raises(SystemError), until_interrupt():
        raise SystemError("a defect")


def test_modules_and_compiled_code_hand_on_ctrl_c_as_errors_of_theirs() -> None:
    for kind in (ImportError, SystemError):
        error = kind("initialization failed")
        assert not is_interrupt(error)
        error.__cause__ = KeyboardInterrupt()
        assert is_interrupt(error)
    assert is_interrupt(KeyboardInterrupt())
    assert not is_interrupt(ValueError())
