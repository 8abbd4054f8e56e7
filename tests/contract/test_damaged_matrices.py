"""A damaged sparse matrix is refused by all that take one; followed, it would end the program."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from yarrow.data.arrays import read_rows
from yarrow.data.sparse import to_csr
from yarrow.errors import DataError


def test_everybody_refuses_every_damage():
    program = Path(__file__).parent / "damaged_matrices.py"
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, check=False)
    last = done.stderr.strip().rsplit("\n", 1)[-1]
    assert done.returncode == 0, f"it ended with {done.returncode} at {last}"
    *complaints, count = done.stdout.splitlines()
    assert complaints == []
    assert int(count.split()[-1]) > 6000


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr", "lil", "dok", "dia"])
@pytest.mark.parametrize("kind", [sp.coo_matrix, sp.coo_array])
def test_sound_matrices_are_taken_in_every_form(form, kind):
    X = np.arange(24.0).reshape(6, 4) % 5
    found = to_csr(kind(X).asformat(form))
    assert found.format == "csr"
    np.testing.assert_array_equal(found.toarray(), X)


def test_memory_behind_the_last_row_is_no_damage():
    """SciPy leaves it there when a matrix gets smaller, until `prune`."""
    X = sp.csr_matrix(np.eye(3))
    X.indices, X.data = np.append(X.indices, 77), np.append(X.data, np.nan)
    assert read_rows(X).n_rows == 3


def test_the_sentence_names_the_place():
    X = sp.csr_matrix(np.ones((4, 3)))
    X.indices[7] = 3
    with pytest.raises(DataError, match=r"a column index outside 0\.\.2 in row 2\.$"):
        to_csr(X)
    X = sp.csc_matrix(np.ones((4, 3)))
    X.indices[7] = 4
    with pytest.raises(DataError, match=r"a row index outside 0\.\.3 in column 1\.$"):
        to_csr(X)
