"""The memory of this process, and what of it belongs to the model, its gradients and its optimizer."""

_KIB = 1024


def own_memory():
    """(now, peak) in bytes: what counts against a limit, so without pages that are only read from files."""
    fields = {}
    with open("/proc/self/status") as file:
        for line in file:
            name, _, value = line.partition(":")
            if name in ("VmRSS", "VmHWM", "RssFile"):
                fields[name] = int(value.split()[0]) * _KIB
    files = fields.get("RssFile", 0)
    return fields["VmRSS"] - files, fields["VmHWM"] - files


def model_bytes(modules):
    """(parameters and buffers, gradients)"""
    values = {id(value): value for module in modules for value in (*module.parameters(), *module.buffers())}
    grads = [value.grad for value in values.values() if value.grad is not None]
    return _sum(values.values()), _sum(grads)


def optimizer_bytes(torch, optimizers):
    states = [value for optimizer in optimizers for state in optimizer.state.values() if isinstance(state, dict) for value in state.values()]
    return _sum({id(value): value for value in states if isinstance(value, torch.Tensor)}.values())


def device_memory(torch):
    """(peak of the allocator, what the device has) of the fullest CUDA device, or nothing. Tried with a stand-in only."""
    if not (torch.cuda.is_available() and torch.cuda.is_initialized()):
        return None, None
    peak, device = max((torch.cuda.max_memory_reserved(index), index) for index in range(torch.cuda.device_count()))
    return (peak, torch.cuda.mem_get_info(device)[1]) if peak else (None, None)


def _sum(tensors):
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors)
