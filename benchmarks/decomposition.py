"""Decompositions beside their peers: what `python -m benchmarks.run decomposition` measures."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.measure import Bar, Best, Comparison, speed

RANK = 50


def centred_stream(rows: int = 20_000, columns: int = 2_000) -> np.ndarray:
    """Rows with two hundred fading directions, noise, and a mean that is not 0."""
    rng = np.random.default_rng(0)
    directions = rng.standard_normal((200, columns)) * (10 / np.arange(1, 201))[:, None]
    X = rng.standard_normal((rows, 200)) @ directions
    X += 0.3 * rng.standard_normal((rows, columns))
    return X + 2 * rng.standard_normal(columns)


def lost(model: Any, X: np.ndarray) -> float:
    """The part of the rows' deviation from their mean that a reconstruction misses."""
    again = model.inverse_transform(model.transform(X))
    return float(np.linalg.norm(X - again) / np.linalg.norm(X - X.mean(axis=0)))


def fitted(model: Any, X: np.ndarray) -> Any:
    """The directions of the fitted model: reading them learns the rows that still wait."""
    return model.fit(X).components_


def svd() -> Comparison:
    """Principal components of a stream."""
    from sklearn.decomposition import IncrementalPCA

    from yarrow.decomposition import OnlineSVD

    X = centred_stream()
    peer, default = "IncrementalPCA, batches of 250", "IncrementalPCA, default"
    models = {
        "Yarrow OnlineSVD": OnlineSVD(rank=RANK, center=True),
        peer: IncrementalPCA(RANK, batch_size=5 * RANK),
        default: IncrementalPCA(RANK),
    }
    contenders = {name: lambda model=model: fitted(model, X) for name, model in models.items()}

    def bars(best: Best) -> list[Bar]:
        missed = {name: lost(model, X) for name, model in models.items()}
        our = missed["Yarrow OnlineSVD"]
        return [
            speed(best, "Yarrow OnlineSVD", peer, 3),
            speed(best, "Yarrow OnlineSVD", default, 3),
            Bar(f"Reconstruction error: that of {peer}", our / missed[peer], at_most=1),
            Bar(f"Reconstruction error: that of {default}", our / missed[default]),
        ]

    title = f"Centred stream, {X.shape[0]:,} x {X.shape[1]:,}, rank {RANK}"
    return Comparison(title, contenders, "us/row", 1e6 / len(X), bars)


def patches(count: int = 30_000, side: int = 8) -> np.ndarray:
    """Squares out of MNIST's digits, each less its mean, without those that are nearly empty."""
    from yarrow.datasets import load

    images = load("mnist").X[: count // 2].toarray().astype(np.float64).reshape(-1, 28, 28)
    images /= images.max()
    rng = np.random.default_rng(0)
    corners = rng.integers(2, 27 - side, (count, 2))
    pieces = [
        images[i // 2, r : r + side, c : c + side].ravel() for i, (r, c) in enumerate(corners)
    ]
    rows = np.array(pieces)
    rows -= rows.mean(axis=1, keepdims=True)
    rows = rows[np.linalg.norm(rows, axis=1) > 0.5]
    return rng.permutation(rows)


def dictionary() -> Comparison:
    """Atoms of patches, one pass."""
    from sklearn.decomposition import MiniBatchDictionaryLearning

    from yarrow.decomposition import OnlineDictionaryLearning

    rows = patches()
    X, held_out = rows[:-2000], rows[-2000:]
    ours = OnlineDictionaryLearning(64, alpha=0.5)
    peer = MiniBatchDictionaryLearning(
        64, alpha=0.5, max_iter=1, batch_size=256, fit_algorithm="cd", random_state=0
    )

    def objective(atoms: np.ndarray) -> float:
        from sklearn.decomposition import sparse_encode

        codes = sparse_encode(held_out, atoms, algorithm="lasso_lars", alpha=0.5)
        error = ((held_out - codes @ atoms) ** 2).sum() / 2
        return float((error + 0.5 * np.abs(codes).sum()) / len(held_out))

    names = "Yarrow OnlineDictionaryLearning", "MiniBatchDictionaryLearning"
    models = dict(zip(names, (ours, peer), strict=True))
    contenders = {name: lambda model=model: fitted(model, X) for name, model in models.items()}

    def bars(best: Best) -> list[Bar]:
        found = [objective(model.components_) for model in models.values()]
        return [
            speed(best, *names),
            Bar("Objective on unseen patches: that of the peer", found[0] / found[1], at_most=1),
        ]

    title = f"MNIST, {len(X):,} patches of 8 x 8, 64 atoms, one pass"
    return Comparison(title, contenders, "us/row", 1e6 / len(X), bars)


def newsgroups() -> Any:
    """20 Newsgroups as counts of words that are in ten messages at least, and in few enough."""
    from yarrow.datasets import load

    X = sparse.csr_matrix(load("20newsgroups", features="counts").X, dtype=np.float64)
    messages = np.bincount(X.indices, minlength=X.shape[1])
    often = (messages >= 10) & (messages <= X.shape[0] // 10)
    return X[:, often]


def articles() -> Any:
    """The articles of the Associated Press, shuffled."""
    from yarrow.datasets import load_documents

    X = sparse.csr_matrix(load_documents().counts, dtype=np.float64)
    return X[np.random.default_rng(0).permutation(X.shape[0])]


def topics(title: str, counts: Any, n_topics: int = 20) -> Comparison:
    """Latent Dirichlet allocation, one pass; nine tenths to learn, one tenth to judge by."""
    from sklearn.decomposition import LatentDirichletAllocation

    from yarrow.decomposition import OnlineLDA

    end = counts.shape[0] * 9 // 10
    X, unseen = counts[:end], counts[end:]
    names = "Yarrow OnlineLDA", "LatentDirichletAllocation"
    models = {
        names[0]: OnlineLDA(n_topics, total_rows=end),
        names[1]: LatentDirichletAllocation(
            n_topics, learning_method="online", max_iter=1, random_state=0
        ),
    }
    contenders = {name: lambda model=model: fitted(model, X) for name, model in models.items()}

    def perplexity(model: Any, seed_name: str) -> float:
        """The mean of three seeds, by one evaluator for both: Yarrow's bound."""
        judge = OnlineLDA(n_topics).fit(X[:128])
        found = []
        for seed in range(3):
            weights = fitted(model.set_params(**{seed_name: seed}), X)
            judge._weights = np.ascontiguousarray(weights.T)
            found.append(judge.perplexity(unseen))
        return float(np.mean(found))

    def bars(best: Best) -> list[Bar]:
        ours = perplexity(models[names[0]], "seed")
        ratio = ours / perplexity(models[names[1]], "random_state")
        return [
            speed(best, *names, 1),
            Bar("Held-out perplexity, three seeds: that of the peer", ratio, at_most=1.02),
        ]

    size = f"{X.shape[0]:,} documents, {X.shape[1]:,} words, {n_topics} topics"
    return Comparison(f"{title}, {size}", contenders, "ms/row", 1e3 / end, bars)


def halves(counts: Any) -> tuple[Any, Any]:
    """The words of each document, each drawn into one of two parts; those that have both."""
    known = counts.copy()
    known.data = np.random.default_rng(0).binomial(counts.data.astype(int), 0.5).astype(float)
    asked = counts - known
    both = (np.ravel(known.sum(axis=1)) > 0) & (np.ravel(asked.sum(axis=1)) > 0)
    return known[both], asked[both]


def topics_without_a_number(counts: Any, held_out: int = 500) -> Comparison:
    """The hierarchical Dirichlet process, one pass, with gensim's limits of 150 and 15 topics."""
    from gensim.models import HdpModel

    from yarrow.decomposition import OnlineHDP

    X, unseen = counts[:-held_out], counts[-held_out:]
    documents = [
        list(zip(X.indices[a:b].tolist(), X.data[a:b].tolist(), strict=True))
        for a, b in zip(X.indptr, X.indptr[1:], strict=False)
    ]
    names = "Yarrow OnlineHDP", "gensim HdpModel"
    limits = {"n_components": 150, "n_document_topics": 15}
    found: dict[str, Any] = {}

    def ours() -> None:
        model = found[names[0]] = OnlineHDP(**limits, total_rows=X.shape[0]).fit(X)
        fitted_weights = model.components_  # reading them learns the rows that still wait
        assert len(fitted_weights) == limits["n_components"]

    def peer() -> None:
        words = {j: str(j) for j in range(X.shape[1])}
        found[names[1]] = HdpModel(documents, words, random_state=0)

    def bars(best: Best) -> list[Bar]:
        """By one evaluator for both: half of an unseen document's words tell its topics."""
        known, asked = halves(unseen)
        model = found[names[1]]
        model.update_expectations()  # its weights are brought up to date only when asked
        judge = OnlineHDP(**limits).fit(X[:256])
        judge._weights = np.ascontiguousarray((model.m_lambda + model.m_eta).T)
        judge._sticks = model.m_var_sticks.copy()
        ratio = found[names[0]].completion(known, asked) / judge.completion(known, asked)
        return [
            speed(best, *names, 1),
            Bar("Perplexity of the other half: that of the peer", ratio, at_most=1.02),
        ]

    size = f"{X.shape[0]:,} documents, {X.shape[1]:,} words"
    contenders = dict(zip(names, (ours, peer), strict=True))
    title = f"20 Newsgroups, {size}, topics without a given number"
    return Comparison(title, contenders, "ms/row", 1e3 / X.shape[0], bars)


def ratings() -> Comparison:
    """MovieLens 100K: each rating predicted, then learned, in the order of time."""
    from river import reco

    from yarrow.datasets import load_ratings
    from yarrow.decomposition import OnlineMatrixFactorization

    data = load_ratings()
    rows = list(zip(data.users.tolist(), data.items.tolist(), data.ratings.tolist(), strict=True))
    found: dict[str, float] = {}

    def ours(name: str, **settings: Any) -> None:
        model, total = OnlineMatrixFactorization(**settings), 0.0
        for user, item, rating in rows:
            pair = {"user": user, "item": item}
            total += (model.predict_one(pair) - rating) ** 2
            model.learn_one(pair, rating)
        found[name] = (total / len(rows)) ** 0.5

    def river(name: str, model: Any) -> None:
        total = 0.0
        for user, item, rating in rows:
            total += (model.predict_one(str(user), str(item)) - rating) ** 2
            model.learn_one(str(user), str(item), rating)
        found[name] = (total / len(rows)) ** 0.5

    contenders = {
        "Yarrow OnlineMatrixFactorization": lambda: ours("Yarrow OnlineMatrixFactorization"),
        "Yarrow, biases only": lambda: ours("Yarrow, biases only", scale=0.0),
        "river Baseline": lambda: river("river Baseline", reco.Baseline()),
        "river BiasedMF": lambda: river("river BiasedMF", reco.BiasedMF(seed=0)),
    }

    def bars(best: Best) -> list[Bar]:
        error = "Progressive RMSE in time order"
        first, *others = found
        pairs = np.column_stack([data.users, data.items])
        order = np.random.default_rng(0).permutation(len(rows))
        train, rest = order[:90_000], order[90_000:]
        model = OnlineMatrixFactorization().fit(pairs[train], data.ratings[train])
        split = float(np.sqrt(np.mean((model.predict(pairs[rest]) - data.ratings[rest]) ** 2)))
        return [
            Bar(f"{error}: {first}", found[first], at_most=1.0, unit=""),
            *[Bar(f"{error}: {name}", found[name], unit="") for name in others],
            Bar(
                "RMSE on a tenth drawn at random, one pass over the rest",
                split,
                at_most=0.95,
                unit="",
            ),
        ]

    return Comparison("MovieLens 100K, one pass", contenders, "us/row", 1e6 / len(rows), bars)


def decomposition() -> list[Comparison]:
    """All of them."""
    return [
        svd(),
        dictionary(),
        topics("Associated Press", articles()),
        topics("20 Newsgroups", newsgroups()),
        topics_without_a_number(newsgroups()),
        ratings(),
    ]
