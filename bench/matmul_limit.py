"""How close a product of two f32 matrices comes to what the CPU's multiply-add units can do.

Why it exists: beside another engine a kernel may be good and still leave half the CPU idle. The limit
is measured in the same run by bench/fma_limit.cpp, a loop of independent multiply-adds.
"""

import dataclasses
import pathlib
import statistics
import subprocess

from engines import Subject, plimsoll_round
from support import small_models

SIDE = 1024


@dataclasses.dataclass(frozen=True)
class MatmulResult:
    limit_gflops: float
    reached_gflops: float

    @property
    def share(self) -> float:
        return self.reached_gflops / self.limit_gflops

    def sentence(self) -> str:
        return (f"f32 matmul of {SIDE}×{SIDE}×{SIDE}, 1 thread: {self.reached_gflops:.0f} of "
                f"{self.limit_gflops:.0f} GFLOP/s, {self.share * 100:.0f} % of the FMA limit")


def measure_matmul(program, folder: pathlib.Path, rounds: int) -> MatmulResult:
    model = small_models.dense(folder, SIDE)
    subject = Subject("matmul", model, ("--input", f"x={SIDE}x{SIDE}xf32=random:1"), pathlib.Path())
    probe = pathlib.Path(program).resolve().parents[2] / "bench" / "fma_limit"
    shares, limits = [], []
    for _ in range(max(3, rounds)):
        limit = float(subprocess.run([str(probe)], capture_output=True, text=True,
                                     check=True).stdout)
        seconds = plimsoll_round(program, subject, 1, 20).run_seconds
        limits.append(limit)
        share = 2 * SIDE**3 / seconds / 1e9 / limit
        if share > 1.05:  # a clock that changes in between explains a few per cent, not more
            raise RuntimeError(f"a matmul at {share:.0%} of the FMA limit: the limit is measured wrongly")
        shares.append(share)
    limit = statistics.median(limits)
    return MatmulResult(limit, statistics.median(shares) * limit)
