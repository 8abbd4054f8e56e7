"""Where files are found, what is said if they are not, and what is kept for the next time."""

from __future__ import annotations

import gzip
import hashlib
import sys
import types

import numpy as np
import pytest

from yarrow.datasets import files, load, names
from yarrow.datasets.catalogue import declared
from yarrow.datasets.files import File, cache_folder, kept
from yarrow.errors import DataError, MissingDependencyError, ParameterError


@pytest.fixture
def nothing_here(monkeypatch, tmp_path):
    monkeypatch.setenv("YARROW_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("YARROW_CACHE", str(tmp_path / "cache"))
    return tmp_path


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def test_an_absent_file_is_an_error_that_says_what_to_put_where(nothing_here, monkeypatch):
    with pytest.raises(DataError, match=r"put the file .*/data/usps/usps.npz there.*08d9cb8a"):
        load("usps")
    monkeypatch.delenv("YARROW_DATA")
    with pytest.raises(DataError, match=r"variable YARROW_DATA and put usps/usps.npz into it"):
        load("usps")


def test_a_file_with_other_bytes_is_refused(nothing_here):
    place = nothing_here / "data" / "usps"
    place.mkdir(parents=True)
    (place / "usps.npz").write_bytes(b"something else")
    with pytest.raises(DataError, match=r"usps.npz: not the published file"):
        load("usps")


def test_what_is_published_is_fetched_and_proved(nothing_here, monkeypatch):
    content = b"1 1:1\n"
    asked = []

    def retrieve(url, known_hash, fname, path):
        asked.append((url, known_hash))
        path.mkdir(parents=True)
        (path / fname).write_bytes(content)
        return str(path / fname)

    monkeypatch.setitem(sys.modules, "pooch", types.SimpleNamespace(retrieve=retrieve))
    file = File("x/x.svm.gz", digest(gzip.compress(content)), "https://x.org/x", digest(content))
    assert file.read() == content
    assert asked == [("https://x.org/x", f"sha256:{digest(content)}")]


@pytest.mark.parametrize("error", [OSError("no route to host"), ValueError("hash differs")])
def test_a_failed_fetch_says_why_and_what_to_do(nothing_here, monkeypatch, error):
    def retrieve(*_):
        raise error

    monkeypatch.setitem(sys.modules, "pooch", types.SimpleNamespace(retrieve=retrieve))
    with pytest.raises(DataError, match=rf"could not be fetched \({error}\): put the file"):
        load("nsl-kdd")


def test_a_missing_library_is_named(nothing_here, monkeypatch):
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(MissingDependencyError, match=r"pooch: pip install 'yarrow-learn\[data\]'"):
        load("nsl-kdd")


def test_mnist_is_fetched_by_scikit_learn(nothing_here, monkeypatch):
    import sklearn.datasets

    def fetch_openml(name, **_):
        assert name == "mnist_784"
        X = np.zeros((70_000, 4), dtype=np.float64)
        X[:, 3] = 255
        return X, np.array(["7", "1"] * 35_000)

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch_openml)
    data = load("mnist")
    assert (len(data), len(data.test), data.classes) == (60_000, 10_000, [1, 7])
    assert data.X[[0]].toarray()[0, 3] == 1


def test_newsgroups_are_fetched_by_scikit_learn(nothing_here, monkeypatch):
    import sklearn.datasets

    def fetch_20newsgroups(subset, **_):
        texts = [f"Subject: {subset}\n\nwords here", "From: x\n\nothers there"]
        return types.SimpleNamespace(data=texts, target=[1, 0], target_names=["a", "b"])

    monkeypatch.setattr(sklearn.datasets, "fetch_20newsgroups", fetch_20newsgroups)
    data = load("20newsgroups", headers=False)
    assert sorted(data.feature_names) == ["here", "others", "there", "words"]
    assert (data.classes, data.test.classes) == (["a", "b"], ["a", "b"])


def test_kddcup99_is_fetched_by_scikit_learn(nothing_here, monkeypatch):
    import sklearn.datasets

    def fetch_kddcup99(**_):
        rows = [[0, b"tcp", service, b"SF", *[1] * 37] for service in (b"http", b"ftp")]
        data = np.array(rows, dtype=object)
        target = np.array([b"normal.", b"smurf."], dtype=object)
        return types.SimpleNamespace(data=data, target=target)

    monkeypatch.setattr(sklearn.datasets, "fetch_kddcup99", fetch_kddcup99)
    data = load("kddcup99")
    assert data.y.tolist() == ["normal", "smurf"]
    words = ["protocol_type=tcp", "service=ftp", "service=http", "flag=SF"]
    assert data.feature_names[-4:] == words


def test_arrays_are_made_once_for_a_key(nothing_here):
    made = []

    def make():
        made.append(1)
        return {"a": np.arange(3), "b": np.array(["x", "y"])}

    for _ in range(2):
        arrays = kept({"of": "this"}, make)
        assert arrays["a"].tolist() == [0, 1, 2]
        assert arrays["b"].tolist() == ["x", "y"]
    assert len(made) == 1
    kept({"of": "that"}, make)
    assert len(made) == 2


def test_a_damaged_cache_is_made_again(nothing_here):
    kept({"of": "this"}, lambda: {"a": np.arange(1000)})
    (path,) = (cache_folder() / "datasets").iterdir()
    path.write_bytes(path.read_bytes()[:500])
    assert kept({"of": "this"}, lambda: {"a": np.arange(2)})["a"].tolist() == [0, 1]
    assert kept({"of": "this"}, dict)["a"].tolist() == [0, 1]


def test_a_cache_that_cannot_be_written_costs_only_time(nothing_here, monkeypatch):
    (nothing_here / "file").write_text("not a folder")
    monkeypatch.setenv("YARROW_CACHE", str(nothing_here / "file"))
    assert kept({"of": "this"}, lambda: {"a": np.arange(2)})["a"].tolist() == [0, 1]


def test_texts_are_read_once(nothing_here, monkeypatch):
    content = b"label\ttext\nham\tsee\\tyou \\\\now\\nsoon\nspam\tbuy buy now\n"
    packed = gzip.compress(content)
    place = nothing_here / "data" / "sms-spam"
    place.mkdir(parents=True)
    (place / "sms-spam.tsv.gz").write_bytes(packed)
    source = type(declared("sms-spam"))
    monkeypatch.setattr(source, "files", (File("sms-spam/sms-spam.tsv.gz", digest(packed)),))
    first = load("sms-spam features=counts")
    assert first.feature_names == ["see", "you", "now", "soon", "buy"]
    assert first.X.toarray().tolist() == [[1, 1, 1, 1, 0], [0, 0, 1, 0, 2]]
    monkeypatch.setattr(files.File, "read", lambda self: pytest.fail("read again"))
    assert load("sms-spam").X.toarray().tolist() == [[1, 1, 1, 1, 0], [0, 0, 1, 0, 1]]


def test_wrong_names_and_options_are_named():
    with pytest.raises(ParameterError, match=r"no set named 'usp' \(did you mean usps"):
        load("usp")
    with pytest.raises(ParameterError, match="no set named ''"):
        load("")
    with pytest.raises(ParameterError, match="usps has no option 'clases'; it has 'part'"):
        load("usps", clases=(1, 2))
    with pytest.raises(ParameterError, match="usps has no option 'clases'"):
        load("usps clases=1,2")
    with pytest.raises(ParameterError, match="The 'seed' parameter must be an integer"):
        load("usps seed=one")
    with pytest.raises(ParameterError, match="The 'noise' parameter must be >= 0 and <= 1"):
        load("synthetic/gaussian", noise=2)
    with pytest.raises(ParameterError, match="The 'unit' parameter must be True or False"):
        load("sms-spam unit=maybe")
    with pytest.raises(ParameterError, match="quotation"):
        load("synthetic/drift of='usps")


@pytest.mark.parametrize("name", names())
def test_a_title_says_all_options(name):
    title = declared(name, seed=4, noise=0.25).title()
    assert declared(title).title() == title
    assert declared(title).seed == 4
    nested = declared("synthetic/drift", of="usps classes=3,5").title()
    assert declared(nested).of == "usps classes=3,5"
