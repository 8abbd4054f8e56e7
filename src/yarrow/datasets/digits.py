"""Handwritten digits: USPS and MNIST."""

from __future__ import annotations

from typing import Any, ClassVar

from yarrow.datasets.dataset import Dataset
from yarrow.datasets.files import fetched
from yarrow.datasets.source import Source, classes_option, options, part_option
from yarrow.lazy import np


@options
class _Digits(Source):
    brightest: ClassVar[float]
    """The whole number that stands for 1 in the file."""

    part: str = part_option()
    classes: Any = classes_option()

    def _read(self) -> Dataset:
        X, y, X_test, y_test = self._arrays()
        data = self._parts(self._images(X, y), self._images(X_test, y_test), self.part)
        return self._chosen(data, self.classes)

    def _images(self, X: Any, y: Any) -> Dataset:
        from scipy.sparse import csr_array

        wanted = self._rows_of(self.classes, y)
        X, y = X[wanted], y[wanted]
        places = np.flatnonzero(X)  # much faster than what csr_array does with a dense array
        values = X.ravel()[places] / np.float32(self.brightest)
        begins = np.concatenate([[0], np.cumsum(np.count_nonzero(X, axis=1))])
        pixels = csr_array((values, places % X.shape[1], begins), X.shape)
        names = [f"pixel{place}" for place in range(X.shape[1])]
        return self._dataset(pixels, y.astype(np.int64), feature_names=names)

    def _arrays(self) -> tuple[Any, Any, Any, Any]:
        """Pixels and digits of the training part, then of the test part."""
        raise NotImplementedError


class USPS(_Digits, named="usps"):
    brightest = 1000

    def _arrays(self) -> tuple[Any, Any, Any, Any]:
        import io

        with np.load(io.BytesIO(self.files[0].read()), allow_pickle=False) as file:
            return file["X_train"], file["y_train"], file["X_test"], file["y_test"]


class MNIST(_Digits, named="mnist"):
    brightest = 255
    has_fetcher = True

    def _arrays(self) -> tuple[Any, Any, Any, Any]:
        if not self.is_here():
            asked = {"name": "mnist_784", "version": 1, "as_frame": False, "return_X_y": True}
            X, y = fetched("fetch_openml", self.files[0], **asked)
            X, y = X.astype(np.uint8), y.astype(np.int64)
            return X[:60_000], y[:60_000], X[60_000:], y[60_000:]
        images, labels, test_images, test_labels = (file.read() for file in self.files)
        return _pixels(images), _digits(labels), _pixels(test_images), _digits(test_labels)


def _pixels(idx: bytes) -> Any:
    """The images of an idx file: a head of four big-endian numbers, then a byte a pixel."""
    count = int.from_bytes(idx[4:8], "big")
    return np.frombuffer(idx, np.uint8, offset=16).reshape(count, -1)


def _digits(idx: bytes) -> Any:
    """The labels of an idx file, whose head has two numbers."""
    return np.frombuffer(idx, np.uint8, offset=8)
