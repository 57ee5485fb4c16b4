"""Small ONNX models for tests of the command line, made when they are asked for.

Why it exists: real models are too large to break on purpose, and each of these shows one thing. A
function takes the folder to write to and returns the file's path.
"""

import pathlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 17
FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64


def value(name: str, shape, element: int = FLOAT):
    return helper.make_tensor_value_info(name, element, shape)


def model_of(nodes, inputs, outputs, weights=(), domains=()) -> onnx.ModelProto:
    """A model of the standard's operators, and of `domains` if there are any."""
    graph = helper.make_graph(list(nodes), "g", list(inputs), list(outputs),
                              [numpy_helper.from_array(array, name) for name, array in weights])
    opsets = [helper.make_opsetid("", OPSET)] + [helper.make_opsetid(name, 1) for name in domains]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


def save(model: onnx.ModelProto, folder: pathlib.Path, name: str) -> pathlib.Path:
    path = folder / f"{name}.onnx"
    path.write_bytes(model.SerializeToString())
    return path


def scale(folder: pathlib.Path) -> pathlib.Path:
    """y = 2 x, any number of rows of 4."""
    return save(model_of([helper.make_node("Mul", ["x", "two"], ["y"], name="double")],
                         [value("x", ["rows", 4])], [value("y", ["rows", 4])],
                         [("two", np.full(4, 2, np.float32))]), folder, "scale")


def typed(folder: pathlib.Path, element: int, shape, name: str = "typed") -> pathlib.Path:
    """y = x of any type and shape."""
    return save(model_of([helper.make_node("Identity", ["x"], ["y"])],
                         [value("x", shape, element)], [value("y", shape, element)]), folder, name)


def counter(folder: pathlib.Path) -> pathlib.Path:
    """total = state + x: an output that becomes an input. Names hold ':' and '/'."""
    return save(model_of([helper.make_node("Add", ["net/state:0", "x"], ["net/total:0"])],
                         [value("x", [2]), value("net/state:0", [2])],
                         [value("net/total:0", [2])]), folder, "counter")


def dense(folder: pathlib.Path, width: int = 1024) -> pathlib.Path:
    """y = x W with a square weight of width² f32."""
    weight = np.random.default_rng(3).uniform(-0.05, 0.05, (width, width)).astype(np.float32)
    return save(model_of([helper.make_node("MatMul", ["x", "w"], ["y"], name="dense")],
                         [value("x", ["rows", width])], [value("y", ["rows", width])],
                         [("w", weight)]), folder, f"dense{width}")


def unknown_operator(folder: pathlib.Path) -> pathlib.Path:
    return save(model_of([helper.make_node("Frobnicate", ["x"], ["y"], name="odd one",
                                           domain="com.example")],
                         [value("x", [1])], [value("y", [1])], domains=("com.example",)),
                folder, "unknown_operator")


def growing(folder: pathlib.Path) -> pathlib.Path:
    """y = 0 … n - 1: how much memory it takes stands in a value."""
    return save(model_of([helper.make_node("Add", ["n", "zero"], ["length"]),
                          helper.make_node("Range", ["zero", "length", "one"], ["y"], name="count")],
                         [value("n", [], INT64)], [value("y", ["m"], INT64)],
                         [("zero", np.array(0, np.int64)), ("one", np.array(1, np.int64))]),
                folder, "growing")


def picked(folder: pathlib.Path) -> pathlib.Path:
    """y = x[i]: fails while running where i is not in x."""
    return save(model_of([helper.make_node("Gather", ["x", "i"], ["y"], name="pick", axis=0)],
                         [value("x", [4]), value("i", [1], INT64)], [value("y", [1])]),
                folder, "picked")


def split_sequence(folder: pathlib.Path) -> pathlib.Path:
    """A sequence of one tensor for each row of x."""
    output = helper.make_tensor_sequence_value_info("rows", FLOAT, None)
    return save(model_of([helper.make_node("SplitToSequence", ["x"], ["rows"], axis=0)],
                         [value("x", [3, 2])], [output]), folder, "split_sequence")


def cyclic(folder: pathlib.Path) -> pathlib.Path:
    return save(model_of([helper.make_node("Add", ["x", "b"], ["a"], name="first"),
                          helper.make_node("Relu", ["a"], ["b"], name="second")],
                         [value("x", [4])], [value("b", [4])]), folder, "cyclic")


def slow(folder: pathlib.Path, rounds: int = 1 << 30) -> pathlib.Path:
    """Runs for as long as anybody waits, in steps that are short: a Loop."""
    body = helper.make_graph(
        [helper.make_node("Identity", ["go"], ["go_on"]), helper.make_node("Sin", ["v"], ["w"])],
        "body", [value("i", [], INT64), value("go", [], TensorProto.BOOL), value("v", [4096])],
        [value("go_on", [], TensorProto.BOOL), value("w", [4096])])
    return save(model_of([helper.make_node("Loop", ["rounds", "", "x"], ["y"], body=body)],
                         [value("x", [4096])], [value("y", [4096])],
                         [("rounds", np.array(rounds, np.int64))]), folder, "slow")


def external(folder: pathlib.Path, location: str, offset: int | str = 0,
             length: int | str = 16, name: str = "external") -> pathlib.Path:
    """The model of `scale`, its weight said to be in a file beside it."""
    model = model_of([helper.make_node("Mul", ["x", "two"], ["y"])], [value("x", ["rows", 4])],
                     [value("y", ["rows", 4])], [("two", np.full(4, 2, np.float32))])
    weight = model.graph.initializer[0]
    weight.ClearField("raw_data")
    weight.data_location = TensorProto.EXTERNAL
    for key, text in (("location", location), ("offset", offset), ("length", length)):
        entry = weight.external_data.add()
        entry.key, entry.value = key, str(text)
    return save(model, folder, name)
