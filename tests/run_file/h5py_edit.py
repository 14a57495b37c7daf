"""Adds a note to a run file as a user might, with h5py in append mode."""

import sys

import h5py

with h5py.File(sys.argv[1], "r+") as file:
    file.attrs["note"] = "seen"
    file.create_dataset("mine", data=[1.0, 2.0])
