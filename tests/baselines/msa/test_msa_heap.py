"""Offsets in fast memory, chosen by hand in units of 4 bytes."""

from __future__ import annotations

from msa_cases import machine, of, reads

from hybridalloc.baselines.msa.heap import Heap
from hybridalloc.baselines.msa.piece import Piece
from hybridalloc.program import Buffer

SIZES = (4, 8, 12, 16, 24)
FOUR, EIGHT, TWELVE, SIXTEEN, TWENTY_FOUR = range(5)
BUFFERS = tuple(Buffer(f"of {size}", size, is_input=True) for size in SIZES)


def heap(*pieces: Piece, capacity: int = 32, fixed: int | None = None) -> Heap:
    """Of eight instructions, with these pieces, which get the numbers 1, 2, ..."""
    buffers = (Buffer("fixed", 4, is_input=True, offset=fixed), *BUFFERS[1:])
    program = of(buffers, (reads(0, 4),), *[()] * 7, on=machine(capacity))
    made = Heap(program)
    for piece in pieces:
        made.put(piece)
    return made


def fit(of: Heap, buffer: int, start: int, *ends: int) -> int | None:
    """Where a buffer goes that is there from one time on."""
    return of.best_fit(buffer, [(SIZES[buffer], start)], ends)


def test_the_smallest_gap_that_holds_a_buffer_is_taken() -> None:
    """Free: [0, 12), [16, 24) and, above all, [28, 32)."""
    taken = heap(Piece(FOUR, 12, 0, 7), Piece(FOUR, 24, 0, 7))
    assert fit(taken, EIGHT, 0, 7) == 16
    assert fit(taken, TWELVE, 0, 7) == 0
    assert fit(taken, SIXTEEN, 0, 7) is None


def test_of_equal_gaps_the_lowest_is_taken() -> None:
    """Free: [0, 8), [12, 20) and [24, 32)."""
    taken = heap(Piece(FOUR, 8, 0, 7), Piece(FOUR, 20, 0, 7))
    assert fit(taken, FOUR, 0, 7) == 0


def test_what_is_above_all_is_taken_last_even_if_it_is_the_smallest() -> None:
    """Free: [0, 16) and [28, 32)."""
    taken = heap(Piece(TWELVE, 16, 0, 7))
    assert fit(taken, FOUR, 0, 7) == 0


def test_a_place_is_free_until_the_end_and_that_time_too() -> None:
    taken = heap(Piece(TWENTY_FOUR, 0, 4, 5))
    assert fit(taken, TWELVE, 0, 3) == 0
    assert fit(taken, TWELVE, 0, 4) is None
    assert fit(taken, TWELVE, 5, 6) is None
    assert fit(taken, TWELVE, 6, 7) == 0


def test_a_buffer_goes_where_it_may_stay_longest() -> None:
    """[0, 8) fits best until 3, but is taken from 5 on; [12, 24) is free until 7."""
    taken = heap(Piece(FOUR, 8, 0, 7), Piece(EIGHT, 24, 0, 7), Piece(EIGHT, 0, 5, 7))
    assert fit(taken, EIGHT, 0, 3) == 0
    assert fit(taken, EIGHT, 0, 3, 4) == 0
    assert fit(taken, EIGHT, 0, 3, 4, 6, 7) == 12


def test_a_buffer_that_cannot_stay_for_all_stays_as_long_as_it_can() -> None:
    """[0, 8) is free until 6, [8, 32) until 2."""
    taken = heap(Piece(TWENTY_FOUR, 8, 3, 7), Piece(EIGHT, 0, 7, 7))
    assert fit(taken, EIGHT, 0, 2, 5, 7) == 0
    assert fit(taken, EIGHT, 0, 7) is None


def test_parts_hold_their_place_only_from_their_own_time_on() -> None:
    """[0, 4) is free from 3 on only, as the first part needs it."""
    taken = heap(Piece(FOUR, 0, 0, 2), Piece(TWENTY_FOUR, 8, 0, 7))
    assert taken.best_fit(EIGHT, [(4, 3), (4, 1)], [7]) == 0
    assert taken.best_fit(EIGHT, [(4, 1), (4, 3)], [7]) is None


def test_how_long_a_piece_may_stay_where_it_is() -> None:
    piece = Piece(EIGHT, 0, 0, 2)
    taken = heap(piece, Piece(FOUR, 4, 6, 7), Piece(FOUR, 8, 4, 7))
    assert taken.free_until(piece, 4) == 4
    assert taken.free_until(piece, 7) == 5
    assert taken.free_until(piece, 2) == 2


def test_what_is_removed_or_replaced_leaves_its_place() -> None:
    changed = heap(Piece(TWENTY_FOUR, 0, 0, 7))
    assert fit(changed, SIXTEEN, 0, 7) is None
    changed.replace(1, Piece(TWENTY_FOUR, 0, 0, 3))
    assert fit(changed, SIXTEEN, 4, 7) == 0
    changed.remove(1)
    assert fit(changed, SIXTEEN, 0, 7) == 0


def test_a_cross_program_piece_leaves_its_place_between_head_and_tail() -> None:
    """It is used until 2, and fetched for the next run from 6 on."""
    kept = heap(Piece(TWENTY_FOUR, 0, 0, 2, crosses=True, tail=6))
    assert fit(kept, SIXTEEN, 3, 5) == 0
    assert fit(kept, SIXTEEN, 2, 5) is None
    assert fit(kept, SIXTEEN, 3, 6) is None


def test_repacking_places_what_is_there_longest_first_and_then_the_larger() -> None:
    """The 12 bytes at 4 leave room for none of 16; packed anew, at 0, they do."""
    packed = heap(Piece(FOUR, 28, 0, 3), Piece(TWELVE, 4, 0, 7))
    assert fit(packed, SIXTEEN, 0, 3) is None
    assert packed.repack()
    assert [packed.pieces[number].offset for number in (1, 2)] == [12, 0]
    assert fit(packed, SIXTEEN, 0, 3) == 16


def test_repacking_that_changes_nothing_says_so() -> None:
    assert not heap(Piece(TWELVE, 0, 0, 7), Piece(FOUR, 12, 0, 3)).repack()


def test_repacking_that_does_not_fit_changes_nothing() -> None:
    """12 at [0, 4]; then 8, longer than 4, above them; 4 at 20; no 16 on top of them.

    As they were, 16 and 12 share their place at different times.
    """
    pieces = (
        Piece(TWELVE, 0, 0, 4),
        Piece(EIGHT, 24, 4, 7),
        Piece(TWENTY_FOUR, 0, 5, 7),
        Piece(FOUR, 20, 0, 4),
    )
    full = heap(*pieces)
    assert not full.repack()
    assert tuple(full.pieces.values()) == pieces


def test_a_fixed_offset_is_kept_by_repacking() -> None:
    fixed = heap(Piece(FOUR, 8, 0, 7), Piece(TWELVE, 12, 0, 7), fixed=8)
    fixed.repack()
    assert fixed.pieces[1].offset == 8
    assert fit(heap(Piece(TWELVE, 0, 0, 7), fixed=8), FOUR, 0, 7) is None
