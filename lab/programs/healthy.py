"""Sound programs that look odd: what must not be blamed."""

import random
import textwrap

from programs.base import draw_base
from programs.program import Program
from programs.fault import set_rate

_HEAD = "import torch\nimport torch.nn.functional as F\nfrom torch import nn\n\ntorch.manual_seed({seed})\n"


def accumulate(program, rng):
    count = rng.choice([2, 4])
    program.first("before_loop", "micro = 0")
    program.first("epoch_begin", *(["global micro"] if program.style == "functions" else []))
    program.replace("backward", "LOSS.backward()", f"(LOSS / {count}).backward()")
    program.put("zero")
    program.put("clip")
    program.put("step", "micro += 1", f"if micro % {count} == 0:", "    OPT.step()", "    OPT.zero_grad()")


def clipped(program, rng):
    program.put("clip", f"nn.utils.clip_grad_norm_(MODEL.parameters(), {rng.choice([0.5, 1.0, 5.0])})")


def averaged(program, rng):
    program.first("before_loop", "import copy", "shadow = copy.deepcopy(MODEL)")
    program.add("after_step", "with torch.no_grad():", "    for slow, fast in zip(shadow.parameters(), MODEL.parameters()):",
                "        slow.lerp_(fast, 0.01)")


def small_batches(program, rng):
    program.batch = rng.choice([1, 2, 4])
    program.epochs = max(1, 600 * program.batch // program.facts["count"])


def low_rate(program, rng):
    set_rate(program, program.facts["lr"] * rng.choice([0.1, 0.2]))
    program.epochs *= 2


def high_rate(program, rng):
    set_rate(program, program.facts["lr"] * rng.choice([2, 3]))


def frozen_backbone(program, rng):
    program.add("touch", "MODEL.fc0.requires_grad_(False)")


def to_zero(program, rng):
    program.add("spoil", "x, y = x[:200], y[:200]")
    program.epochs = 120


def none(program, rng):
    pass


VARIANTS = {
    "plain": (none, {}), "schedules": (none, dict(schedules=("cosine", "warmup", "onecycle", "step", "plateau"))),
    "accumulation": (accumulate, dict(schedules=("none", "cosine"))), "clipping": (clipped, {}),
    "moving-average": (averaged, dict(styles=("script", "manual", "steps"))),
    "small-batches": (small_batches, dict(kinds=("classes", "regression"), norm=False, schedules=("none",), optimizers=("Adam", "AdamW"))),
    "low-rate": (low_rate, dict(kinds=("classes",), schedules=("none",))), "high-rate": (high_rate, dict(schedules=("none",))),
    "running-mean": (none, dict(logs=("mean",))), "slow-descent": (none, dict(optimizers=("SGD",), kinds=("classes",), activations=("tanh",))),
    "frozen-backbone": (frozen_backbone, dict(kinds=("classes",), models=("mlp",), widths=(128,), depths=(2,))),
    "to-zero-loss": (to_zero, dict(kinds=("classes",), models=("mlp",), validate=False)),
    "few-steps": (lambda program, rng: setattr(program, "epochs", 2), dict(epochs_min=2)),
}


def _gan(rng) -> str:
    return textwrap.dedent(f"""
        real_mean = torch.tensor([1.5, -0.5])
        gen = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2))
        dis = nn.Sequential(nn.Linear(2, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1))
        g_opt = torch.optim.Adam(gen.parameters(), lr={rng.choice([1e-3, 2e-3])}, betas=(0.5, 0.999))
        d_opt = torch.optim.Adam(dis.parameters(), lr={rng.choice([1e-3, 2e-3])}, betas=(0.5, 0.999))
        for step in range({rng.choice([500, 800])}):
            real = real_mean + 0.3 * torch.randn(64, 2)
            fake = gen(torch.randn(64, 4))
            d_loss = F.binary_cross_entropy_with_logits(dis(real), torch.ones(64, 1)) + \\
                F.binary_cross_entropy_with_logits(dis(fake.detach()), torch.zeros(64, 1))
            d_opt.zero_grad()
            d_loss.backward()
            d_opt.step()
            g_loss = F.binary_cross_entropy_with_logits(dis(fake), torch.ones(64, 1))
            g_opt.zero_grad()
            g_loss.backward()
            g_opt.step()
            if step % 50 == 0:
                print(f"step {{step}} d_loss {{d_loss.item():.3f}} g_loss {{g_loss.item():.3f}}")
        """)


def _policy(rng) -> str:
    return textwrap.dedent(f"""
        policy = nn.Sequential(nn.Linear(6, 32), nn.Tanh(), nn.Linear(32, 3))
        opt = torch.optim.Adam(policy.parameters(), lr={rng.choice([3e-3, 1e-2])})
        best = torch.randn(6, 3)
        for episode in range({rng.choice([400, 700])}):
            state = torch.randn(64, 6)
            choice = torch.distributions.Categorical(logits=policy(state))
            action = choice.sample()
            reward = (action == (state @ best).argmax(1)).float() + 0.1 * torch.randn(64)
            loss = -(choice.log_prob(action) * (reward - reward.mean())).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            if episode % 25 == 0:
                print(f"episode {{episode}} reward {{reward.mean().item():.3f}}")
        """)


def _likelihood(rng) -> str:
    """A density can be above 1: the loss goes below 0, and on."""
    return textwrap.dedent(f"""
        x = torch.randn(1000, 5)
        y = 0.3 * x[:, :1] + {rng.choice([0.01, 0.03])} * torch.randn(1000, 1)
        net = nn.Sequential(nn.Linear(5, 32), nn.Tanh(), nn.Linear(32, 2))
        opt = torch.optim.Adam(net.parameters(), lr={rng.choice([1e-3, 3e-3])})
        for epoch in range(40):
            for rows in torch.randperm(1000).split(50):
                out = net(x[rows])
                loss = F.gaussian_nll_loss(out[:, :1], y[rows], out[:, 1:].exp() + 1e-6)
                opt.zero_grad()
                loss.backward()
                opt.step()
            print("epoch", epoch, "loss", round(loss.item(), 4))
        """)


def _fine_tune(rng) -> str:
    return textwrap.dedent(f"""
        x = torch.randn(1200, 12)
        y = (x @ torch.randn(12, 4)).argmax(1)
        net = nn.Sequential(nn.Linear(12, 64), nn.ReLU(), nn.Linear(64, 4))
        first = torch.optim.Adam(net.parameters(), lr=3e-3)
        for step in range(500):
            rows = torch.randint(0, 1200, (64,))
            first.zero_grad()
            F.cross_entropy(net(x[rows]), y[rows]).backward()
            first.step()
        good = {{name: value.clone() for name, value in net.state_dict().items()}}
        net.load_state_dict(good)
        opt = torch.optim.AdamW(net.parameters(), lr={rng.choice([1e-4, 3e-5])})
        for epoch in range(15):
            for rows in torch.randperm(1200).split(64):
                loss = F.cross_entropy(net(x[rows]), y[rows])
                opt.zero_grad()
                loss.backward()
                opt.step()
            print(f"epoch {{epoch}} loss {{loss.item():.4f}}")
        """)


def _two_groups(rng) -> str:
    return textwrap.dedent(f"""
        x = torch.randn(1000, 10)
        y = torch.tanh(x @ torch.randn(10, 1)) + {rng.choice([0.05, 0.2])} * torch.randn(1000, 1)
        body, head = nn.Sequential(nn.Linear(10, 32), nn.GELU()), nn.Linear(32, 1)
        slow, fast = torch.optim.SGD(body.parameters(), lr=0.02), torch.optim.Adam(head.parameters(), lr={rng.choice([1e-3, 5e-3])})
        for step in range(800):
            rows = torch.randint(0, 1000, (32,))
            loss = F.mse_loss(head(body(x[rows])), y[rows])
            slow.zero_grad()
            fast.zero_grad()
            loss.backward()
            slow.step()
            fast.step()
            if step % 100 == 0:
                print(f"step={{step}} loss={{loss.item():.4f}}")
        """)


def _variational(rng) -> str:
    return textwrap.dedent(f"""
        data = torch.randn(1000, 3) @ torch.randn(3, 20) + 0.1 * torch.randn(1000, 20)
        enc, dec = nn.Linear(20, 8), nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 20))
        opt = torch.optim.Adam([*enc.parameters(), *dec.parameters()], lr={rng.choice([2e-3, 5e-3])})
        for epoch in range(35):
            for rows in torch.randperm(1000).split(50):
                mean, log_var = enc(data[rows]).chunk(2, 1)
                code = mean + torch.randn_like(mean) * (0.5 * log_var).exp()
                kl = -0.5 * (1 + log_var - mean ** 2 - log_var.exp()).sum(1).mean()
                loss = ((dec(code) - data[rows]) ** 2).sum(1).mean() + 0.1 * kl
                opt.zero_grad()
                loss.backward()
                opt.step()
            print(f"epoch {{epoch}}: elbo loss {{loss.item():.3f}} kl {{kl.item():.3f}}")
        """)


WHOLE = {"adversarial": _gan, "policy-gradient": _policy, "negative-loss": _likelihood, "fine-tuning": _fine_tune,
         "two-optimizers": _two_groups, "variational": _variational}
FAMILIES = tuple(VARIANTS) + tuple(WHOLE)


def draw_healthy(family: str, seed: int) -> Program:
    rng = random.Random(f"{family}/{seed}")
    if family in WHOLE:
        program = Program(seed, "script", {}, 1, 1, {})
        program.whole = _HEAD.format(seed=seed) + WHOLE[family](rng)
        return program
    change, want = VARIANTS[family]
    program = draw_base(family, seed, want)
    change(program, rng)
    return program
