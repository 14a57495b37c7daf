"""Reads a run file as a user without this project would: h5py, then pandas when it is installed.

Arguments: the run file. Prints one line for each step, every number by repr, for the caller to compare.
"""

import sys

import h5py
import numpy

COLUMNS = {
    "steps": "step loss lr grad_norm grad_norm_clipped update_rms param_norm tokens seconds batch_hash",
    "eval": "step loss accuracy tokens",
    "health": "step layer mx2 kernel_error min_denominator underflow_rows sigma_min sigma_max"
    " anisotropy_q anisotropy_k",
}
INTEGERS = {"step": "int64", "tokens": "int64", "layer": "int64", "batch_hash": "uint64"}

with h5py.File(sys.argv[1], "r") as file:
    assert int(file.attrs["schema_version"]) == 1
    assert isinstance(file.attrs["config"], str), type(file.attrs["config"])
    assert file.attrs["cpu"] == "naïve Ω ≤ 4"
    assert file.attrs["exit_reason"] == ""
    assert len(file.attrs["long"]) == 100000
    assert set(file) == set(COLUMNS), list(file)
    for group, names in COLUMNS.items():
        assert set(file[group]) == set(names.split()), list(file[group])
        sizes = {column.shape for column in file[group].values()}
        assert len(sizes) == 1, sizes
        for name, column in file[group].items():
            assert column.dtype == numpy.dtype(INTEGERS.get(name, "float64")), (name, column.dtype)
            assert column.attrs["help"], name
    assert numpy.isnan(file["steps/loss"][3]) and numpy.isneginf(file["steps/loss"][4])
    assert numpy.isnan(file["health/kernel_error"][:]).all()
    for row in zip(*(file["steps"][name][:] for name in COLUMNS["steps"].split())):
        print(*(repr(value.item()) for value in row))
    try:
        import pandas
    except ImportError:
        sys.exit()
    frame = pandas.DataFrame({name: column[:] for name, column in file["steps"].items()})
    assert len(frame) == len(file["steps/step"]) and frame["loss"].isna().sum() > 0
