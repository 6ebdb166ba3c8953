from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from sessions.fair_line import Served, Waiting, fair_line

NOW = datetime(2026, 1, 5, 12, tzinfo=UTC)
TEAMS, PEOPLE = ("a", "b", "c"), (1, 2, None)

asker = st.tuples(st.sampled_from(TEAMS), st.sampled_from(PEOPLE))
minutes = st.integers(0, 60)
arrivals = st.lists(st.tuples(asker, minutes, st.integers(1, 5)), max_size=25)
servings = st.dictionaries(asker, st.tuples(st.integers(0, 4), st.none() | minutes), max_size=9)
limits = st.fixed_dictionaries({team: st.none() | st.integers(1, 4) for team in TEAMS})


def at(minute: int) -> datetime:
    return NOW + timedelta(minutes=minute)


def waiting(arrived: list[tuple[tuple[str, int | None], int, int]]) -> list[Waiting]:
    return [Waiting(f"s{n}", *who, at(minute)) for n, (who, minute, _) in enumerate(arrived)]


@given(arrivals, servings, limits)
def test_who_has_the_least_goes_first_within_the_limits_of_their_team(
    arrived: list[tuple[tuple[str, int | None], int, int]],
    served: dict[tuple[str, int | None], tuple[int, int | None]],
    limits: dict[str, int | None],
) -> None:
    sessions = waiting(arrived)
    rows = [
        Served(*who, running, None if last is None else at(last))
        for who, (running, last) in served.items()
    ]
    line = fair_line(sessions, rows, limits)
    assert sorted(one.id for one in [*line.ready, *line.held]) == sorted(one.id for one in sessions)
    running = Counter({who: count for who, (count, _) in served.items()})
    of_team = Counter[str]()
    for (team, _), count in running.items():
        of_team[team] += count
    left = sorted(sessions, key=lambda one: (one.since, one.id))

    def is_open(team: str) -> bool:
        most = limits[team]
        return most is None or of_team[team] < most

    for one in line.ready:
        able = {other.team for other in left if is_open(other.team)}
        assert one.team in able
        assert of_team[one.team] == min(of_team[team] for team in able)
        team = [other for other in left if other.team == one.team]
        assert running[one.team, one.person] == min(
            running[other.team, other.person] for other in team
        )
        assert one == next(other for other in team if other.person == one.person)
        left.remove(one)
        of_team[one.team] += 1
        running[one.team, one.person] += 1
    assert not any(is_open(one.team) for one in left)


@given(arrivals, st.integers(1, 3), limits)
def test_everybody_is_served_and_who_comes_late_waits_for_one_turn_of_each_team_at_most(
    arrived: list[tuple[tuple[str, int | None], int, int]],
    places: int,
    limits: dict[str, int | None],
) -> None:
    # Places are taken up one after the other, and turns end when they have run for as many rounds
    # as they want. Nobody knows more than what is in the rows.
    left, wants = waiting(arrived), [length for _, _, length in arrived]
    held: dict[Waiting, int] = {}
    last: dict[tuple[str, int | None], datetime] = {}
    passed = Counter[str]()
    for clock in range(1_000, 2_000):
        held = {one: rounds - 1 for one, rounds in held.items() if rounds > 1}
        while len(held) < places:
            rows = [
                Served(*who, sum((one.team, one.person) == who for one in held), moment)
                for who, moment in last.items()
            ]
            line = fair_line(left, rows, limits)
            if not line.ready:
                break
            first = line.ready[0]
            # Of those who have nothing running, nobody is passed over twice by the same team.
            idle = {one.team for one in line.ready} - {one.team for one in held} - {first.team}
            for team in idle:
                passed[f"{team} by {first.team}"] += 1
                assert passed[f"{team} by {first.team}"] <= 1
            for key in [key for key in passed if key.startswith(f"{first.team} by ")]:
                del passed[key]
            left.remove(first)
            held[first] = wants[int(first.id[1:])]
            last[first.team, first.person] = at(clock) + timedelta(seconds=len(held))
        if not left:
            return
    raise AssertionError(f"{len(left)} sessions were never served")


def test_what_only_has_to_end_waits_for_nobody() -> None:
    sessions = [
        Waiting("turn", "a", 1, at(0)),
        Waiting("stopped", "a", 1, at(9), settles=True),
        Waiting("other", "b", 2, at(5)),
    ]
    line = fair_line(sessions, [Served("a", 1, 2, at(1))], {"a": 2})
    assert [one.id for one in line.ready] == ["stopped", "other"]
    assert [one.id for one in line.held] == ["turn"]
