"""The curriculum."""

from __future__ import annotations

import numpy as np

from hybridalloc.agents.muzero.curriculum import Curriculum, CurriculumConfig

CONFIG = CurriculumConfig(
    first=2, more=1, mastered=0.9, patience=3, games=4, decisions=100
)
LENGTHS = [30, 10, 50, 20]


def chosen(curriculum: Curriculum, seed: int = 0) -> list[int]:
    return curriculum.choose(np.random.default_rng(seed))


def test_the_shortest_programs_come_first() -> None:
    curriculum = Curriculum(LENGTHS, CONFIG)
    assert curriculum.admitted == [1, 3]
    assert sorted(chosen(curriculum)) == [1, 1, 3, 3]


def test_longer_ones_are_admitted_as_all_that_are_played_are_mastered() -> None:
    curriculum = Curriculum(LENGTHS, CONFIG)
    curriculum.note(1, 0.8, 0.8)
    curriculum.note(3, 0.7, 0.8)
    curriculum.admit()
    assert curriculum.admitted == [1, 3]
    curriculum.note(3, 0.73, 0.8)
    curriculum.admit()
    assert curriculum.admitted == [1, 3, 0]


def test_patience_has_an_end() -> None:
    curriculum = Curriculum(LENGTHS, CONFIG)
    for index in (1, 3, 1, 3, 1, 3):
        assert curriculum.admitted == [1, 3]
        curriculum.note(index, 0.0, 1.0)
        curriculum.admit()
    assert curriculum.admitted == [1, 3, 0]


def test_an_iteration_has_about_so_many_decisions_and_at_least_a_game() -> None:
    curriculum = Curriculum([60, 60, 60], CONFIG)
    assert len(chosen(curriculum)) == 1
    assert len(chosen(Curriculum([1000], CONFIG))) == 1


def test_a_return_below_nothing_can_be_the_best() -> None:
    curriculum = Curriculum([10], CONFIG)
    curriculum.note(0, -1.0, -1.0)
    assert curriculum.state()["mastered"] == [True]


def test_a_curriculum_that_is_restored_chooses_the_same() -> None:
    curriculum, other = (Curriculum(LENGTHS, CONFIG) for _ in range(2))
    for index in (1, 3, 1):
        curriculum.note(index, 1.0, 1.0)
    curriculum.admit()
    other.restore(curriculum.state())
    assert other.admitted == curriculum.admitted
    assert chosen(other, 7) == chosen(curriculum, 7)
