"""Data sets: real ones of scikit-learn (as files beside the program) and synthetic vision, text and regression."""

REAL_CLASSES = {"digits": (64, 10), "iris": (4, 3), "wine": (13, 3), "breast_cancer": (30, 2)}
_LOAD = ['here = os.path.dirname(os.path.abspath(__file__))', 'raw = np.load(os.path.join(here, "data", "{name}.npz"))']
_STANDARD = "x = (x - x.mean(0)) / (x.std(0) + 1e-6)"
_SPLIT = ["order = torch.randperm(len(x), generator=torch.Generator().manual_seed(5))", "held = len(x) // 5",
          "xv, yv = x[order[:held]], y[order[:held]]", "x, y = x[order[held:]], y[order[held:]]"]


def _load(name: str) -> list:
    return [line.format(name=name) for line in _LOAD]


def real_classes(name: str) -> tuple:
    inputs, classes = REAL_CLASSES[name]
    scale = "x = x / 16" if name == "digits" else _STANDARD
    lines = _load(name) + ["x = torch.tensor(raw['x'], dtype=torch.float32)", "y = torch.tensor(raw['y'], dtype=torch.long)", scale] + _SPLIT
    return lines, dict(kind="classes", inputs=inputs, classes=classes, scale=scale)


def diabetes() -> tuple:
    scale = "y = (y - y.mean()) / y.std()"
    lines = _load("diabetes") + ["x = torch.tensor(raw['x'], dtype=torch.float32)", _STANDARD,
                                 "y = torch.tensor(raw['y'], dtype=torch.float32)[:, None]", scale] + _SPLIT
    return lines, dict(kind="regression", inputs=10, classes=1, scale=_STANDARD)


def waves(rng) -> tuple:
    """Regression with a noise floor."""
    inputs, noise = rng.choice([1, 4, 8]), rng.choice([0.02, 0.1, 0.3])
    lines = [f"x = torch.randn(1200, {inputs})", f"mix = torch.randn({inputs}, 1) / {inputs} ** 0.5",
             f"y = torch.sin(2 * x @ mix) + 0.5 * (x @ mix) + {noise} * torch.randn(1200, 1)"] + _SPLIT
    return lines, dict(kind="regression", inputs=inputs, classes=1, scale="")


def blobs(rng) -> tuple:
    inputs, classes = rng.choice([8, 16, 32]), rng.choice([3, 4, 6])
    lines = [f"centres = {rng.choice([1.0, 1.5])} * torch.randn({classes}, {inputs})", f"y = torch.randint(0, {classes}, (1500,))",
             f"x = centres[y] + torch.randn(1500, {inputs})"] + _SPLIT
    return lines, dict(kind="classes", inputs=inputs, classes=classes, scale="")


def digit_images() -> tuple:
    lines, _ = real_classes("digits")
    return lines[:4] + ["x = x / 16", "x = x.view(-1, 1, 8, 8)"] + _SPLIT, dict(kind="images", inputs=8, classes=10, scale="x = x / 16")


def stripes(rng) -> tuple:
    """Pictures of stripes in four directions."""
    noise = rng.choice([0.2, 0.5])
    lines = ["y = torch.randint(0, 4, (1000,))", "grid = torch.stack(torch.meshgrid(torch.arange(10.), torch.arange(10.), indexing='ij'))",
             "turn = torch.tensor([[1., 0.], [0., 1.], [1., 1.], [1., -1.]])", "wave = torch.einsum('nd,dhw->nhw', turn[y], grid)",
             f"x = (torch.sin(1.3 * wave + 6 * torch.rand(1000, 1, 1)) + {noise} * torch.randn(1000, 10, 10))[:, None]"] + _SPLIT
    return lines, dict(kind="images", inputs=10, classes=4, scale="")


def tokens(rng) -> tuple:
    """Which of three marker words stands in the text?"""
    length = rng.choice([12, 20])
    lines = ["y = torch.randint(0, 3, (1000,))", f"x = torch.randint(3, 20, (1000, {length}))",
             f"x[torch.arange(1000), torch.randint(0, {length}, (1000,))] = y"] + _SPLIT
    return lines, dict(kind="tokens", inputs=20, classes=3, length=length, scale="")


def language(rng) -> tuple:
    """The next word of a language in which four of five words follow from the one before."""
    length = rng.choice([12, 16])
    lines = ["follow = torch.randperm(16)", f"text = torch.randint(0, 16, (700, {length + 1}))", f"for place in range({length}):",
             "    sure = torch.rand(700) < 0.8", "    text[sure, place + 1] = follow[text[sure, place]]", "x, y = text[:, :-1], text[:, 1:]"] + _SPLIT
    return lines, dict(kind="language", inputs=16, classes=16, length=length, scale="")


def series(rng) -> tuple:
    """Which of three frequencies a noisy signal has."""
    length = rng.choice([16, 30])
    lines = ["y = torch.randint(0, 3, (900,))", f"time = torch.arange({length}.)",
             f"x = torch.sin((0.3 + 0.5 * y[:, None]) * time + 6 * torch.rand(900, 1))[..., None] + 0.2 * torch.randn(900, {length}, 1)"] + _SPLIT
    return lines, dict(kind="series", inputs=1, classes=3, length=length, scale="")


def pictures_to_code(rng) -> tuple:
    lines = _load("digits") + ["x = torch.tensor(raw['x'], dtype=torch.float32) / 16", "y = x"] + _SPLIT
    return lines, dict(kind="reconstruct", inputs=64, classes=64, scale="")


def draw_task(rng, kinds: tuple) -> tuple:
    makers = {
        "classes": [lambda: real_classes("digits"), lambda: real_classes("digits"), lambda: real_classes("iris"), lambda: real_classes("wine"),
                    lambda: real_classes("breast_cancer"), lambda: blobs(rng), lambda: blobs(rng)],
        "regression": [diabetes, lambda: waves(rng), lambda: waves(rng)],
        "images": [digit_images, lambda: stripes(rng)],
        "tokens": [lambda: tokens(rng)], "language": [lambda: language(rng)], "series": [lambda: series(rng)],
        "reconstruct": [lambda: pictures_to_code(rng)],
    }
    return rng.choice(makers[rng.choice(kinds)])()
