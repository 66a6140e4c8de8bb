"""Let MaskablePPO of sb3-contrib learn mallocGame, on two programs at once."""

from pathlib import Path

import gymnasium

import hybridalloc.game.environment

try:
    from sb3_contrib import MaskablePPO
except ModuleNotFoundError:
    MaskablePPO = None

WORKLOADS = Path(__file__).parent / "workloads"
PROGRAMS = [WORKLOADS / "mixer_block_b128", WORKLOADS / "lstm_lm_b64_s128"]


def main(steps: int) -> None:
    """Train a network for so many steps, then let it play both programs."""
    if MaskablePPO is None:
        print("This example needs sb3-contrib: pip install sb3-contrib")
        return
    game = gymnasium.make(hybridalloc.game.environment.ID, problems=PROGRAMS)
    model = MaskablePPO("MultiInputPolicy", game, n_steps=128, seed=0).learn(steps)
    for i, program in enumerate(PROGRAMS):
        seen, info = game.reset(options={"program": i})
        ended, saved = False, 0.0
        while not ended:
            action, _ = model.predict(seen, action_masks=info["action_mask"])
            seen, reward, ended, _, info = game.step(action)
            saved += float(reward)
        print(f"{program.name}: {saved:.1%} of the all-slow time saved (roofline)")


if __name__ == "__main__":
    main(steps=512)
