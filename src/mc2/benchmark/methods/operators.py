"""Neural operators: FNO and PINO, from a problem to its solution in one pass."""

from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from mc2.benchmark.methods.method import Case, Method, operator_of
from mc2.networks.installed import ENDING, need_torch
from mc2.problems import Poisson, Problem
from mc2.solvers.learned import load_network
from mc2.zoo.fields import boundary_fields


@final
class OperatorNetwork(Method):
    """A trained operator network. It reads no more than its inputs: in the paper's form, the source alone.

    weights: a name of those that the package ships, or the path of a .safetensors file. The domain's mask is applied to
    the result in any case.
    """

    setting = "dense"
    reads = ("source", "mask", "grid")

    def __init__(self, weights: str = "fno") -> None:
        need_torch("an operator network")
        from mc2.networks.operator_inputs import OperatorInputs

        self.learned = load_network(weights, kind=OperatorInputs)
        self.name = weights.replace("\\", "/").rsplit("/", 1)[-1].removesuffix(ENDING)
        inputs = self.learned.inputs
        also: tuple[str, ...] = ("problem",) if inputs.extended else ()
        if "parameter" in inputs.channels:
            also += ("family", "parameter")
        self.reads = (*OperatorNetwork.reads, *also)  # type: ignore[assignment]

    def solve(self, case: Case) -> NDArray[np.floating[Any]]:
        if not self.learned.inputs.extended:
            return self._apply(case, case.source)
        problem, source = case.problem, case.source
        if problem.laplacian is not None:  # Δ²u = f with u and Δu at the boundary is Poisson's equation, twice
            inner = Poisson(problem.domain, source=problem.source, boundary=problem.laplacian)
            source = self._apply(case, source, inner)
        return self._apply(case, source, problem)

    def _apply(self, case: Case, source: NDArray[Any], around: Problem | None = None) -> NDArray[np.floating[Any]]:
        """One pass of the network. around: has the domain and the boundary data."""
        import torch

        from mc2.networks.corrector_inputs import apply_network
        from mc2.networks.operator_inputs import OperatorData, finish, prepare

        learned = self.learned

        def put(values: Any) -> torch.Tensor:
            return torch.from_numpy(np.array(values, np.float32, ndmin=3)).to(learned.device)

        knows = "parameter" in learned.inputs.channels
        coefficient = torch.tensor([operator_of(case.family, case.parameter).mass if knows else 0.0])
        fields = boundary_fields([around], case.grid) if around else ()
        known = OperatorData(put(source), put(case.mask), coefficient.to(learned.device), *map(put, fields))
        with torch.inference_mode():
            prepared = prepare(known, learned.inputs)
            output = apply_network(learned.network, prepared.channels, learned.multiple)
            found: NDArray[np.float32] = finish(prepared, output, known.mask)[0].cpu().numpy()
        return found
