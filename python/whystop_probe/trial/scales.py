"""Centers and spreads of inputs, robustly: per column of a table, per channel of pictures, else of the whole."""

_MAD_TO_STD = 1.4826
_ODD_DISTANCE = 8.0  # In spreads of the rest of the column.
_ODD_SHARE_MIN = 0.005  # A filler is repeated; a single outlier is data.


def _columns(values):
    """[samples, features] of a tensor: channels second, as torch has them; tables by column."""
    if values.dim() == 2:
        return values
    if values.dim() >= 3 and values.shape[1] <= 64:
        return values.transpose(1, -1).reshape(-1, values.shape[1])
    return values.reshape(-1, 1)


def _shaped(row, values):
    if values.dim() == 2:
        return row.reshape(1, -1)
    if values.dim() >= 3 and values.shape[1] <= 64:
        return row.reshape([1, -1] + [1] * (values.dim() - 2))
    return row.reshape([1] * values.dim())


def column_scales(torch, values):
    """(center, spread), shaped to be used with `values`. A column's spread is 0 where all its values are equal."""
    table = torch.nan_to_num(_columns(values.detach().double()), 0.0, 0.0, 0.0)
    center = table.median(dim=0).values
    spread = (table - center).abs().median(dim=0).values * _MAD_TO_STD
    deviation = table.std(dim=0) if table.shape[0] > 1 else torch.zeros_like(center)
    spread = torch.where(spread > 0, spread, deviation)  # Mostly one value: pixels at the edge.
    return _shaped(center, values), _shaped(spread, values)


def odd_values(torch, values):
    """Where a value is NaN, or a filler: far outside its column and repeated there."""
    values = values.detach().double()
    odd = ~torch.isfinite(values)
    table = _columns(values)
    if values.dim() != 2 or table.shape[0] < 4:
        return odd
    center, spread = column_scales(torch, values)
    far = (values - center).abs() > _ODD_DISTANCE * torch.where(spread > 0, spread, spread.max().clamp_min(1e-12))
    for value in values[far & torch.isfinite(values)].unique()[:16]:
        same = values == value
        if float(same.double().mean()) >= _ODD_SHARE_MIN and int(same.sum()) > 1:
            odd |= same & far
    return odd
