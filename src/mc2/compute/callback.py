"""C callbacks from Python functions, compiled by numba, whose machine code is freed when nobody uses it any more.

`numba.cfunc` keeps all that it ever compiled, about a megabyte for every function: its engine frees no module, and
llvmlite does not free pass managers (another base class hides their `_dispose`). Here every function has an engine of
its own, and pass managers are used again or freed. What stays is a few kilobytes of numba's types.
"""

import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from types import FunctionType
from typing import Any

import llvmlite.binding as llvm
from numba import types
from numba.core import config
from numba.core.ccallback import _CFuncCompiler  # type: ignore[attr-defined]
from numba.core.codegen import RuntimeLinker
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_lock import global_compiler_lock
from numba.core.compiler_machinery import AnalysisPass, register_pass
from numba.core.errors import NumbaError
from numba.core.registry import cpu_target
from numba.core.typed_passes import NopythonTypeInference

try:
    from llvmlite.binding.newpassmanagers import NewPassManager
except ImportError:  # older releases have other pass managers, which they free
    NewPassManager = None

_ARGUMENTS = (types.float64, types.float64)
_LINKED_ONLY = "__numba_array_expr"
"""Begins the names of modules that only ever become a part of others: numba's engine need not keep them."""


class NotANumberError(NumbaError):
    """A function does not return a real number."""


@register_pass(mutates_CFG=False, analysis_only=True)
class _CheckResult(AnalysisPass):  # type: ignore[misc]
    """Stops as soon as types are known: what comes after would stay in memory."""

    _name = "mc2_check_result"

    def __init__(self) -> None:
        super().__init__()

    def run_pass(self, state: Any) -> bool:
        if not isinstance(state.return_type, types.Integer | types.Float):
            raise NotANumberError(f"the function returns {state.return_type}")
        return False


class _Compiler(CompilerBase):  # type: ignore[misc]
    def define_pipelines(self) -> list[Any]:
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.add_pass_after(_CheckResult, NopythonTypeInference)
        passes.finalize()
        return [passes]


class Callback:
    """Machine code of ``double f(double, double)``. address: of the function, valid as long as this object lives."""

    def __init__(self, module: Any, name: str, codegen: Any) -> None:
        for symbol in (*module.functions, *module.global_variables):
            if symbol.is_declaration and not _known(symbol.name):  # LLVM would end the process
                raise NotImplementedError(f"{symbol.name} is not in this process")
        options = {"opt": config.OPT}
        codegen._customize_tm_options(options)
        machine = llvm.Target.from_triple(llvm.get_process_triple()).create_target_machine(**options)
        self._engine = llvm.create_mcjit_compiler(module, machine)
        self._calls = _connect_recursion(module, self._engine)
        self.address: int = self._engine.get_function_address(name)


@global_compiler_lock
def compile_callback(function: Callable[..., Any]) -> Callback:
    """A function of two numbers as a callback. What cannot be compiled raises one of numba's many exceptions."""
    if not isinstance(function, FunctionType):
        raise TypeError("not a Python function")
    codegen = cpu_target.target_context.codegen()
    compiler = _CFuncCompiler(function, cpu_target, {"nopython": True, "error_model": "numpy"}, {}, _Compiler)
    with _thrifty_passes(codegen):
        result = compiler.compile(_ARGUMENTS, None)
        if result.signature.return_type != types.float64:
            result = compiler.compile(_ARGUMENTS, types.float64)
        library = result.library
        library._finalize_final_module = lambda: None  # which would give the module to numba's own engine
        library.finalize()
    return Callback(library._final_module, result.fndesc.llvm_cfunc_wrapper_name, codegen)


@contextmanager
def _thrifty_passes(codegen: Any) -> Iterator[None]:
    """Within this, numba uses pass managers again or frees them, and keeps no module that nothing will call."""
    if NewPassManager is None:
        yield
        return
    made: list[Any] = []

    def make(**options: Any) -> Any:
        manager, builder = type(codegen)._module_pass_manager(codegen, **options)
        made.append(manager)
        return manager, builder

    def add(module: Any) -> None:
        if not module.name.startswith(_LINKED_ONLY):
            type(codegen)._add_module(codegen, module)

    codegen._function_pass_manager, codegen._module_pass_manager, codegen._add_module = _function_passes, make, add
    try:
        yield
    finally:
        del codegen._function_pass_manager, codegen._module_pass_manager, codegen._add_module
        for manager in made:
            NewPassManager._dispose(manager)


@cache
def _function_passes() -> Any:
    """One pass manager for all functions: those of modules cannot be used again."""
    codegen = cpu_target.target_context.codegen()
    return type(codegen)._function_pass_manager(codegen)


def _known(symbol: str) -> bool:
    return symbol.startswith(("llvm.", RuntimeLinker.PREFIX)) or llvm.address_of_symbol(symbol) is not None


def _connect_recursion(module: Any, engine: Any) -> list[ctypes.c_void_p]:
    """Pointers through which functions call themselves: they are global variables that numba leaves to be filled."""
    names = [gv.name for gv in module.global_variables if gv.name.startswith(RuntimeLinker.PREFIX)]
    pointers = [ctypes.c_void_p(0) for _ in names]
    for name, pointer in zip(names, pointers, strict=True):
        engine.add_global_mapping(module.get_global_variable(name), ctypes.addressof(pointer))
    engine.finalize_object()
    for name, pointer in zip(names, pointers, strict=True):
        pointer.value = engine.get_function_address(name.removeprefix(RuntimeLinker.PREFIX))
    return pointers
