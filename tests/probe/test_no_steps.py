"""Programs with torch that never make a step: what they say about themselves at the end."""


def test_inference_says_so(run, script):
    path = script("import torch\nnet = torch.nn.Linear(4, 2)\nwith torch.no_grad():\n    print(net(torch.zeros(1, 4)).shape)\n")
    got = run(path)
    assert (got.out, got.err) == ("torch.Size([1, 2])\n", "")
    seen = got.one("no-training")
    assert (seen["modules"], seen["optimizers"]) == (1, 0)
    assert got.observations("loop-never-turned") == []


RESUMED = """
import torch
net = torch.nn.Linear(4, 2)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
first, epochs, step, total = 5, 5, 30, 30
for epoch in range(first, epochs):
    net(torch.zeros(1, 4)).sum().backward()
    optimizer.step()
while step < total:
    optimizer.step()
for name in range(first, epochs):
    print(name)
"""


def test_a_loop_without_a_turn_is_named_with_its_values(run, script):
    got = run(script(RESUMED))
    assert (got.code, got.out, got.err) == (0, "", "")
    found = [(item["line"], item["kind"], item["values"], item["start"]) for item in got.observations("loop-never-turned")]
    assert found == [(6, "for", "first=5, epochs=5", 5), (9, "while", "step=30, total=30", 30)]


def test_the_length_of_a_tensor_is_known(run, script):
    text = RESUMED.replace("range(first, epochs)", "range(0, len(rows), 16)").replace("step, total = 5, 5, 30, 30", "step, total = 5, 5, 0, 0")
    got = run(script(text.replace("net =", "rows = torch.zeros(0, 4)\nnet =", 1).replace("while step < total", "while step < total - 1")))
    assert [(item["over"], item["start"]) for item in got.observations("loop-never-turned")][0] == ("range(0, len(rows), 16)", 0)


def test_a_program_that_trains_tells_neither(run, script):
    got = run(script(RESUMED.replace("first, epochs, step, total = 5, 5,", "first, epochs, step, total = 0, 2,")))
    assert len(got.of("step")) == 2
    assert got.observations("loop-never-turned") == got.observations("no-training") == []
