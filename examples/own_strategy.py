"""A strategy of one's own: by itself, in a chain, and from a warm start."""

from hybridalloc import Chain, MemoryMap, Outcome, Problem, Run, solve
from hybridalloc.baselines.adoption import adopt
from hybridalloc.baselines.plan import Plan, pinned_map
from hybridalloc.loops import Loops
from hybridalloc.stays import candidate_stays


class Dense:
    """Adds what saves most for its bytes to the map that there is."""

    def solve(self, problem: Problem, run: Run) -> Outcome:
        """Place one stay after the other beside those of the warm start."""
        plan = Plan(problem, Loops(problem.program))
        left = adopt(plan, run.warm_start or pinned_map(problem) or MemoryMap(), run)
        sizes = [buffer.size for buffer in problem.program.buffers]
        stays = candidate_stays(problem, plan.loops)
        for stay in sorted(stays, key=lambda x: -plan.saving(x) / sizes[x.buffer]):
            if not (run.expired or stay.buffer in left or plan.overlapping(stay)):
                plan.place(stay)
                run.report(plan.memory_map())
        return Outcome(plan.memory_map())


PROGRAM = "examples/workloads/dcgan_train_b128"
alone, after = (solve(PROGRAM, x) for x in (Dense(), Chain("msa", Dense())))
warm = solve(PROGRAM, Dense(), warm_start=solve(PROGRAM, "msa").map)
print([(x.history[-1].found_by, x.time) for x in (alone, after, warm)])
