"""Readers of files that may come from strangers: one module per format.

Each accepts plain content of the expected type, shape and range, and nothing else. Sizes are known, and within limits,
before memory is taken. What is refused raises `InputError` with one line; a name of the file is put before it by
`naming`, or by the caller. Nothing that is read is ever run.
"""
