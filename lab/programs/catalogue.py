"""All runs of the PyTorch half: the labelled programs of each seed, with the sound twin that a sick one is compared with."""

import json
import random
from typing import Iterator, NamedTuple, Optional

from programs import faults_data, faults_model, faults_steps, faults_stop
from programs.base import draw_base
from programs.fault import ALWAYS, BY_EFFECT
from programs.healthy import FAMILIES, WHOLE, draw_healthy
from programs.styles import render

FAULTS = faults_steps.FAULTS + faults_model.FAULTS + faults_data.FAULTS + faults_stop.FAULTS


class Case(NamedTuple):
    label: str                 # The fault, or "healthy"
    family: str                # Of a healthy one: which kind; else the label
    accepted: tuple
    question: str
    judged: str
    seed: int
    text: str                  # The program
    twin: Optional[str]        # The text of the same program without the fault
    notes: str                 # For people: what it is made of
    made_of: tuple = ()        # Task, model and style of loop: the families of programs


def _notes(program) -> str:
    facts = program.facts
    return " ".join(str(facts.get(key, "")) for key in ("kind", "model", "activation", "optimizer", "lr", "schedule", "log")) + " " + program.style


def _made_of(program) -> tuple:
    return (program.facts.get("kind", "other"), program.facts.get("model", "other"), "other" if program.whole else program.style)


def sick_case(fault, seed: int) -> Case:
    key = json.dumps(fault.want, sort_keys=True)
    twin = render(draw_base(key, seed, fault.want)) if fault.judged == BY_EFFECT else None
    program = draw_base(key, seed, fault.want)
    fault.change(program, random.Random(f"{fault.label}/{seed}"))
    return Case(fault.label, fault.label, fault.accepted, fault.question, fault.judged, seed, render(program), twin, _notes(program), _made_of(program))


def healthy_case(family: str, seed: int) -> Case:
    program = draw_healthy(family, seed)
    judged = ALWAYS if family in WHOLE else "healthy"
    return Case("healthy", family, (), "learning", judged, seed, render(program), None, _notes(program), _made_of(program))


def cases(seeds: range) -> Iterator[Case]:
    for seed in seeds:
        for fault in FAULTS:
            yield sick_case(fault, seed)
        for family in FAMILIES:
            yield healthy_case(family, seed)
