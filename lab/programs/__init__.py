"""Composes real PyTorch programs, healthy and sick, from parts: data, model, loss, optimizer, schedule, loop, fault."""
