"""The nodes and constants of an ONNX graph, collected one by one."""

from __future__ import annotations

from typing import Any

import numpy as np


class GraphParts:
    """Nodes and constants of a graph.

    Parameters
    ----------
    onnx : module
        The package onnx.
    """

    def __init__(self, onnx: Any) -> None:
        self._onnx = onnx
        self.types = onnx.TensorProto
        self.nodes: list[Any] = []
        self.constants: dict[str, Any] = {}

    def node(self, operator: str, inputs: list[str], output: str, **attributes: Any) -> None:
        """Add an operator.

        Parameters
        ----------
        operator : str
            Its name in ONNX.
        inputs : list of str
            Names of what it takes.
        output : str
            Name of what it gives.
        **attributes
            Of the operator.
        """
        made = self._onnx.helper.make_node(operator, inputs, [output], **attributes)
        self.nodes.append(made)

    def constant(self, name: str, values: Any) -> None:
        """Add a constant.

        Parameters
        ----------
        name : str
            What nodes call it.
        values : array-like
            Numbers, or labels.
        """
        self.constants[name] = self._onnx.numpy_helper.from_array(np.asarray(values), name)

    def number(self, value: float) -> Any:
        """Return a number of double precision, as an attribute of an operator.

        Parameters
        ----------
        value : float
            The number.
        """
        return self._onnx.numpy_helper.from_array(np.array([value]))

    def part(self) -> GraphParts:
        """Return the parts of a graph inside this one, which knows the names of this one."""
        return GraphParts(self._onnx)

    def as_graph(
        self, name: str, inputs: list[tuple[str, int, Any]], outputs: list[tuple[str, int, Any]]
    ) -> Any:
        """Return the nodes as a graph.

        Parameters
        ----------
        name : str
            Name of the graph.
        inputs, outputs : list of tuple
            Name, type and shape of each.
        """
        helper = self._onnx.helper
        ends = [[helper.make_tensor_value_info(*one) for one in some] for some in (inputs, outputs)]
        return helper.make_graph(self.nodes, name, *ends, list(self.constants.values()))
