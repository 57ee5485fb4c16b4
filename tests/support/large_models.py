"""Models with one large weight, written piece by piece.

Why it exists: what loading costs shows only with weights of hundreds of megabytes, which are too large
to commit and should not be held in memory to be made. The bytes of a weight repeat a short block of
random values whose length is odd, so that no two rows are alike.
"""

import dataclasses
import pathlib

import ml_dtypes
import numpy as np
import onnx
from onnx import TensorProto, helper

BLOCK = 65537
PIECE = 1 << 22

_ELEMENTS = {
    TensorProto.FLOAT: np.dtype(np.float32),
    TensorProto.FLOAT16: np.dtype(np.float16),
    TensorProto.BFLOAT16: np.dtype(ml_dtypes.bfloat16),
    TensorProto.INT8: np.dtype(np.int8),
}
_LENGTH_DELIMITED = 2


@dataclasses.dataclass(frozen=True)
class Weight:
    name: str
    element: int  #: a TensorProto.DataType
    shape: tuple[int, ...]

    @property
    def dtype(self) -> np.dtype:
        return _ELEMENTS[self.element]

    @property
    def elements(self) -> int:
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def bytes(self) -> int:
        return self.elements * self.dtype.itemsize

    def block(self) -> np.ndarray:
        generator = np.random.default_rng(7)
        if self.element == TensorProto.INT8:
            return generator.integers(-127, 128, BLOCK).astype(np.int8)
        return generator.uniform(-0.05, 0.05, BLOCK).astype(np.float32).astype(self.dtype)

    def write(self, file) -> None:
        block = self.block().tobytes()
        many = block * max(1, PIECE // len(block))
        left = self.bytes
        while left > 0:
            left -= file.write(many[:left])

    def values(self) -> np.ndarray:
        """The whole weight as f32, for checking results."""
        return np.resize(self.block().astype(np.float32), self.elements).reshape(self.shape)


def _varint(number: int) -> bytes:
    encoded = bytearray()
    while number >= 0x80:
        encoded.append(number & 0x7F | 0x80)
        number >>= 7
    encoded.append(number)
    return bytes(encoded)


def _field(number: int, length: int) -> bytes:
    """The head of a length-delimited protobuf field."""
    return _varint(number << 3 | _LENGTH_DELIMITED) + _varint(length)


def write_model(path: pathlib.Path, graph: onnx.GraphProto, weight: Weight, external: bool,
                opset: int = 17) -> None:
    """Writes a model of `graph` with `weight` as one more initialiser, inline or in PATH.data."""
    tensor = TensorProto(name=weight.name, data_type=weight.element, dims=weight.shape)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    if external:
        data = path.with_name(path.name + ".data")
        tensor.data_location = TensorProto.EXTERNAL
        for key, value in (("location", data.name), ("offset", "0"), ("length", str(weight.bytes))):
            tensor.external_data.add(key=key, value=value)
        with data.open("wb") as file:
            weight.write(file)
        model.graph.initializer.append(tensor)
        path.write_bytes(model.SerializeToString())
        return
    # A protobuf message is the concatenation of its fields: the weight is put behind what the library
    # serialised, with the lengths of the messages around it made larger.
    tensor_bytes = tensor.SerializeToString()
    raw = _field(TensorProto.RAW_DATA_FIELD_NUMBER, weight.bytes)
    initializer = len(tensor_bytes) + len(raw) + weight.bytes
    graph_bytes = model.graph.SerializeToString()
    head = _field(onnx.GraphProto.INITIALIZER_FIELD_NUMBER, initializer)
    whole = len(graph_bytes) + len(head) + initializer
    model.ClearField("graph")
    with path.open("wb") as file:
        file.write(model.SerializeToString())
        file.write(_field(onnx.ModelProto.GRAPH_FIELD_NUMBER, whole))
        file.write(graph_bytes + head + tensor_bytes + raw)
        weight.write(file)


@dataclasses.dataclass(frozen=True)
class LoadCase:
    """A graph around one large weight; `expected` computes its output from input and weight, in f32."""

    name: str
    weight: Weight
    nodes: list
    element: int  #: of input and output
    input_shape: tuple[int, ...]
    output_shape: tuple[int, ...]
    expected: object
    external: bool = True
    constants: tuple = ()

    def write(self, folder: pathlib.Path) -> pathlib.Path:
        path = folder / f"{self.name}.onnx"
        graph = helper.make_graph(
            self.nodes, self.name,
            [helper.make_tensor_value_info("x", self.element, self.input_shape)],
            [helper.make_tensor_value_info("y", self.element, self.output_shape)],
            [onnx.numpy_helper.from_array(value, name) for name, value in self.constants])
        write_model(path, graph, self.weight, self.external)
        return path


def _convolution(x: np.ndarray, w: np.ndarray) -> np.ndarray:
    rows, columns = x.shape[2] - 2, x.shape[3] - 2
    patches = np.stack([x[0, :, i:i + 3, j:j + 3].reshape(-1)
                        for i in range(rows) for j in range(columns)])
    return (w.reshape(w.shape[0], -1) @ patches.T).reshape(1, -1, rows, columns)


def load_cases(scale: int = 1) -> list[LoadCase]:
    """The cases; sides of matrices are divided by `scale`, for tests of the tests."""
    n = 8192 // scale
    node = helper.make_node
    f32, f16, bf16, i8 = (TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.BFLOAT16,
                          TensorProto.INT8)
    square = (n, n)
    product = [node("MatMul", ["x", "w"], ["y"])]
    scales = np.random.default_rng(9).uniform(1e-4, 1e-3, n).astype(np.float32)
    bias = np.linspace(-1, 1, n, dtype=np.float32)

    def case(name, element_of_weight, nodes, expected, element=f32, **more):
        return LoadCase(name, Weight("w", element_of_weight, square), nodes, element, (4, n), (4, n),
                        expected, **more)

    return [
        case("matmul_f32", f32, product, lambda x, w: x @ w),
        case("matmul_f32_inline", f32, product, lambda x, w: x @ w, external=False),
        case("matmul_f16", f16, product, lambda x, w: x @ w, element=f16),
        case("matmul_bf16", bf16, product, lambda x, w: x @ w, element=bf16),
        case("cast_f16_matmul", f16,
             [node("Cast", ["w"], ["wide"], to=f32), node("MatMul", ["x", "wide"], ["y"])],
             lambda x, w: x @ w),
        case("transpose_matmul", f32,
             [node("Transpose", ["w"], ["turned"], perm=[1, 0]),
              node("MatMul", ["x", "turned"], ["y"])],
             lambda x, w: x @ w.T),
        case("transpose_matmul_inline", f32,
             [node("Transpose", ["w"], ["turned"], perm=[1, 0]),
              node("MatMul", ["x", "turned"], ["y"])],
             lambda x, w: x @ w.T, external=False),
        case("gemm_transposed", f32, [node("Gemm", ["x", "w", "bias"], ["y"], transB=1)],
             lambda x, w: x @ w.T + bias, constants=(("bias", bias),)),
        case("int8_matmul", i8,
             [node("DequantizeLinear", ["w", "scales"], ["wide"], axis=1),
              node("MatMul", ["x", "wide"], ["y"])],
             lambda x, w: x @ (w * scales), constants=(("scales", scales),)),
        case("used_twice", f32,
             [node("MatMul", ["x", "w"], ["once"]), node("MatMul", ["once", "w"], ["y"])],
             lambda x, w: (x @ w) @ w),
        LoadCase("convolution_f32", Weight("w", f32, (3584 // scale, 2048 // scale, 3, 3)),
                 [node("Conv", ["x", "w"], ["y"], kernel_shape=[3, 3])], f32,
                 (1, 2048 // scale, 6, 6), (1, 3584 // scale, 4, 4), _convolution),
    ]
