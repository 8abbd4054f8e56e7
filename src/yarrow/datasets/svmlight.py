"""Small published sets in svmlight text: the classics of the LIBSVM page."""

from __future__ import annotations

from typing import Any

from yarrow.datasets.dataset import Dataset
from yarrow.datasets.files import File
from yarrow.datasets.source import Size, Source, options, part_option
from yarrow.lazy import np


def parse_svmlight(content: bytes, columns: int, first: int = 1) -> tuple[Any, Any]:
    r"""Return the rows and labels of svmlight text, whose indices count from `first`.

    >>> X, y = parse_svmlight(b"+1 1:2 3:0.5\n-1\n", columns=3)
    >>> X.toarray().tolist(), y.tolist()
    ([[2.0, 0.0, 0.5], [0.0, 0.0, 0.0]], [1.0, -1.0])
    """
    from scipy.sparse import csr_array

    lines = [line for line in content.split(b"\n") if line]
    sizes = np.array([line.count(b":") for line in lines])
    numbers = np.fromstring(content.replace(b":", b" ").decode("ascii"), sep=" ")
    begins = np.concatenate([[0], np.cumsum(sizes)])
    heads = 2 * begins[:-1] + np.arange(len(lines))  # a label stands before the pairs of its row
    pairs = np.delete(numbers, heads).reshape(-1, 2)
    X = csr_array(
        (pairs[:, 1].astype(np.float32), pairs[:, 0].astype(np.int32) - first, begins),
        (len(lines), columns),
    )
    X.eliminate_zeros()
    return X, numbers[heads]


@options
class Classic(Source):
    """A classic of the LIBSVM page."""

    order = "shuffled with seed 0, since the file may be sorted by class"

    def _read(self) -> Dataset:
        return self._shuffled(self._of_file(self.files[0]))

    def _of_file(self, file: File) -> Dataset:
        X, y = parse_svmlight(file.read(), self.size.features)
        return self._dataset(X, y.astype(np.int64))


@options
class ClassicWithTest(Classic):
    """A classic with a test part of its own."""

    part: str = part_option()

    def _read(self) -> Dataset:
        train, test = map(self._of_file, self.files)
        return self._shuffled(self._parts(train, test, self.part))


def _classic(name: str, size: Size, doc: str, digest: str, test: str = "") -> type[Source]:
    """Declare a classic; `test` is the digest of its test part, if it has one."""
    files = [File(f"libsvm-classics/{name}.svm.gz", digest)]
    if test:
        files.append(File(f"libsvm-classics/{name}.t.svm.gz", test))
    origin = (
        "the test suite of Vowpal Wabbit, a sample of RCV1 (Lewis et al., JMLR 5, 2004)"
        if name == "rcv1-vw-small"
        else "the LIBSVM data page (Chang, Lin, csie.ntu.edu.tw/~cjlin/libsvmtools/datasets)"
    )
    base = ClassicWithTest if test else Classic
    return type(
        name,
        (base,),
        {"__doc__": doc, "name": name, "origin": origin, "size": size, "files": tuple(files)},
    )


CLASSICS = (
    _classic(
        "a9a",
        Size(32_561, 123, 2),
        "Whether somebody earns more than 50,000 dollars a year, from the census (Adult).",
        "2a66595cdac07f65d5e8a8d223dfe4ab003ebbcc7e3a0b9fe588c2657b8d6c4e",
        "3cc3668c2cbb3fbc172f2bade718c4f6678b76123eca97e0c4e15c78ba5312e3",
    ),
    _classic(
        "w1a",
        Size(2477, 300, 2),
        "Whether a web page belongs to a category, from its words; 3 % do (Platt 1998).",
        "59dc54296e4b5a057d7c63395647667405169f698d748cced283db3efde60c1c",
    ),
    _classic(
        "mushrooms",
        Size(8124, 112, 2),
        "Whether a mushroom is poisonous.",
        "8a95fcd8f6323f99ec0c8b497b7c609bde755de9f0b787057bc61497402e5f05",
    ),
    _classic(
        "splice",
        Size(1000, 60, 2),
        "Whether a piece of DNA has a splice junction.",
        "0205f1de8a96ee6a6b59af59f6c81a8244175d8e5d34a1f4ad259573c9b89ed2",
        "625c072447a443ad670b12d9c11dbb84e972aebeca3092ac6454b0bdeb729846",
    ),
    _classic(
        "german.numer",
        Size(1000, 24, 2),
        "Whether a credit is a bad risk; columns as they were collected.",
        "8406870045aa77e534138110b5f87a2406e5e3fc0e42fa8e6dea0118fa46e9f9",
    ),
    _classic(
        "german.numer_scale",
        Size(1000, 24, 2),
        "Whether a credit is a bad risk; columns scaled to [-1, 1].",
        "fa48582f5915400d93f4b8a6d734dc19944dd766f56283594f4d06d3efb86c86",
    ),
    _classic(
        "svmguide1",
        Size(3089, 4, 2),
        "A set from astronomy with four columns of very different size.",
        "16e791715cf00ccf40d1d1cc50161f4d2226b5e25322b7f2aab8940d7ed1d823",
        "7dfc1d447a12aa7ec01ae6830a33809443a6f54031822f9dbdbc77968d31e517",
    ),
    _classic(
        "diabetes",
        Size(768, 8, 2),
        "Whether a person of the Pima has diabetes (-1) or not (+1).",
        "694ab0a069094896334ebae1b9fb97db5a53a11466ce1ddeecab4d1282e7014b",
    ),
    _classic(
        "fourclass",
        Size(862, 2, 2),
        "Four clouds of points in the plane, two of each class; no line separates them.",
        "d588418ccf56b94ff0c27de7240c130c903cba17aa6ac1eb9d2bf3752f73eac2",
    ),
    _classic(
        "heart",
        Size(270, 13, 2),
        "Whether a patient has a heart disease (Statlog).",
        "b350bd5066ae0515f72372ac39a3c12bf124bb6144e8499b98a9c2b439a8eec4",
    ),
    _classic(
        "ionosphere",
        Size(351, 34, 2),
        "Whether a radar signal shows structure in the ionosphere.",
        "076590f38bdafadc6b5233ee685b61bbeb8e2774d0b0cd2c65ed015b03606e0e",
    ),
    _classic(
        "sonar",
        Size(208, 60, 2),
        "Whether a sonar signal came from a mine or from a rock.",
        "2a31e9dcce0e61f8f52d4820eae05181f4b86b3af449ad4f4b699cd4c47929fc",
    ),
    _classic(
        "breast-cancer",
        Size(683, 10, 2),
        "Whether a lump is benign (+1); the first column is the patient's number.",
        "fc29795a8041ab0e2501ce9c98e22a8f3670392d5f34c2bde84156cee7fa65be",
    ),
    _classic(
        "rcv1-vw-small",
        Size(1000, 47_236, 2),
        "Whether a news story is about companies; rows have unit length. 1,000 stories and 500.",
        "89adaad10ae17984ca46897165efefc01b7d274e42487eab5374c91a3eb072d2",
        "321b90727f0c78fedc61fe5c3678f63e925fa38423ef8454a6778a4de91f24fd",
    ),
)
