"""One engine in one small process: ONNX Runtime opens a model, runs it, and says what that took.

  onnxruntime_process.py MODEL INPUTS.npz THREADS REPEAT   → JSON on standard output

Why it exists: memory and time of an engine are only comparable when nothing else lives in the process.
Inputs are in memory before anything is measured, as a host program would hold them.
"""

import json
import sys
import time

import numpy as np
import onnxruntime


def kibibytes(field: str) -> int:
    with open("/proc/self/status", encoding="ascii") as status:
        for line in status:
            if line.startswith(field + ":"):
                return int(line.split()[1]) * 1024
    return 0


def main() -> int:
    model, inputs, threads, repeat = sys.argv[1:]
    with np.load(inputs) as archive:
        feed = {name.replace("|", "/"): archive[name] for name in archive.files}
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = int(threads)
    base, peak_before = kibibytes("VmRSS"), kibibytes("VmHWM")
    began = time.perf_counter()
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    create_seconds = time.perf_counter() - began
    largest = kibibytes("VmRSS")
    session.run(None, feed)
    run_seconds = []
    for _ in range(int(repeat)):
        began = time.perf_counter()
        session.run(None, feed)
        run_seconds.append(time.perf_counter() - began)
    largest = max(largest, kibibytes("VmRSS"))
    # VmHWM where it rose, else the largest sample: importing the engine may have peaked higher.
    peak = kibibytes("VmHWM")
    print(json.dumps({
        "create_seconds": create_seconds,
        "run_seconds": run_seconds,
        "added_peak_bytes": (peak if peak > peak_before else largest) - base,
    }))
    return 0


if __name__ == "__main__":
    sys.exit(main())
