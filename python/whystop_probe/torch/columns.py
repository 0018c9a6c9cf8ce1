"""What the columns of a table look like over many batches: values that stand for a gap, heavy tails, codes, constants."""

from time import thread_time

_ROWS_MAX = 2048
_VALUES_MAX = 1 << 17
_COLUMNS_MAX = 256
_ROWS_MIN = 64
_TOLD_AT = (256, 1024, _ROWS_MAX)  # Rows.
_NORMAL_QUARTILES = 1.349  # Between the quartiles of a normal distribution of deviation 1.
_SPIKE_SHARE_MIN, _SPIKE_SHARE_MAX, _SPIKE_COUNT_MIN = 0.002, 0.5, 4
_SPIKE_GAP = 4.0  # Deviations of the rest between the spike and its nearest neighbour: a value that was clipped has none.
_TAIL = 50.0  # Deviations, by which the farthest value lies from the middle.
_CODES_MIN, _CODES_MAX = 5, 1000
_CODES_SHARE_MAX = 0.75  # Of the rows: values that never come again tell nothing by kind.
_GRID_ERROR, _ROUNDING = 0.02, 1e-4  # Of the distance between two neighbours, and of a gap where some codes did not come.
_BY_CHANCE = 3.0  # Standard deviations of what kinds tell of targets that have nothing to do with them.
_CLASSES_MAX = 20  # Of targets: more are taken for sizes.


class Columns:
    """Gathers rows of one place, and tells what is to be seen in their columns once there are enough."""

    def __init__(self, torch, training, place):
        self._torch = torch
        self._training = training
        self._place = place
        self._rows = []
        self._targets = []  # One tensor for each of _rows, or fewer: then what the columns tell of them is not asked.
        self._count = 0
        self._due = 0  # Index into _TOLD_AT.
        self._coded = True  # Until the rows say otherwise.

    @property
    def full(self):
        return self._due >= len(_TOLD_AT)

    @property
    def worth_more(self):
        """There are codes, and what they tell of the targets is known the better the more rows there are."""
        return self._coded and not self.full and 0 < len(self._targets) == len(self._rows)

    def add(self, table, target=None):
        """A tensor of [samples, columns] in host memory, and what is to be told of each sample, where that is one value."""
        if self.full:
            return
        room = min(_ROWS_MAX, _VALUES_MAX // table.shape[1]) - self._count
        rows = table.detach()[: max(room, 0)].double()
        if self._rows and rows.shape[1] != self._rows[0].shape[1]:
            return
        self._rows.append(rows.clone() if rows.dtype is table.dtype else rows)
        if target is not None:
            self._targets.append(target.detach().reshape(-1)[: rows.shape[0]].double().clone())
        self._count += rows.shape[0]
        ran_out = self._count + 1 > min(_ROWS_MAX, _VALUES_MAX // table.shape[1])
        if self._count >= _TOLD_AT[self._due] or ran_out:
            self._tell()
            while self._due < len(_TOLD_AT) and self._count >= _TOLD_AT[self._due]:
                self._due += 1
            if ran_out:
                self._due, self._rows, self._targets = len(_TOLD_AT), [], []

    def _tell(self):
        start = thread_time()
        with self._torch.no_grad():
            table = self._torch.cat(self._rows)
            targets = self._answers(self._torch.cat(self._targets)) if len(self._targets) == len(self._rows) else None
            facts = self._facts(table, targets)
        self._coded = facts["coded"] > 0
        self._training.channel.observe("columns", self._training.step, place=self._place, rows=table.shape[0], columns=table.shape[1], **facts)
        self._training.governor.spend("columns", table.shape[1], thread_time() - start)

    def _facts(self, table, targets):
        values = table.sort(dim=0).values
        spikes, tails, codes, kinds, constant = [], [], [], [], 0
        for index in range(values.shape[1]):
            column = values[:, index]
            column = column[self._torch.isfinite(column)]
            if column.numel() < _ROWS_MIN:
                continue
            if column[0] == column[-1]:
                constant += 1
                continue
            spike = self._spike(column)
            if spike is not None:
                spikes.append((*spike, index))
            else:
                tail = self._tail(column)
                if tail > _TAIL:
                    tails.append((tail, index))
            distinct = self._grid(column)
            if distinct:
                codes.append((distinct, index))
                told = None if targets is None else self._told_by_kind(table[:, index], targets)
                if told is not None:
                    kinds.append((*told, distinct, index))
        facts = {"constant": constant, "spiked": len(spikes), "tailed": len(tails), "coded": len(codes)}
        if spikes:
            distance, value, share, index = max(spikes, key=lambda item: item[0])
            facts.update(spike_column=index, spike_value=value, spike_share=share, spike_distance=distance)
        if tails:
            facts.update(tail_size=max(tails)[0], tail_column=max(tails)[1])
        if codes:
            facts.update(code_values=max(codes)[0], code_column=max(codes)[1])
        if kinds:
            line, kind, order, distinct, index = max(kinds, key=lambda item: item[1] - item[0])
            facts.update(code_values=distinct, code_column=index, told_by_line=line, told_by_kind=kind, code_order=order)
        return facts

    def _spike(self, column):
        """(distance, value, share) of a single value at one end that comes often and lies far from all others; None: there is none."""
        for end, value in ((0, column[0]), (-1, column[-1])):
            rest = column[column != value]
            count = column.numel() - rest.numel()
            share = count / column.numel()
            if count < _SPIKE_COUNT_MIN or not _SPIKE_SHARE_MIN <= share <= _SPIKE_SHARE_MAX or rest.numel() < _ROWS_MIN:
                continue
            middle, deviation = _middle(rest)
            nearest = rest[0] if end == 0 else rest[-1]
            if deviation > 0 and float((nearest - value).abs()) > _SPIKE_GAP * deviation:
                return float((middle - value).abs()) / deviation, float(value), share
        return None

    def _answers(self, targets):
        """[samples, answers]: a column of its own for each class, sizes as they are."""
        classes = targets.unique()
        whole = bool((targets == targets.round()).all())
        if whole and 2 < classes.numel() <= _CLASSES_MAX:
            return (targets[:, None] == classes[None, :]).double()
        return targets[:, None]

    def _told_by_kind(self, column, targets):
        """What a column tells of the targets: the share of their variance on a straight line, the share by the mean of each value (at
        least, chance allowed for), and how those means move from value to value: 2 without any order, towards 0 on a smooth curve."""
        kinds, place = column.unique(return_inverse=True)
        samples, centred = column.numel(), targets - targets.mean(0)
        total = float(centred.square().sum())
        if not 0 < total < float("inf") or not bool(self._torch.isfinite(column).all()):
            return None
        sums = self._torch.zeros(kinds.numel(), targets.shape[1], dtype=targets.dtype).index_add_(0, place, centred)
        counts = self._torch.bincount(place, minlength=kinds.numel()).double()[:, None]
        means = sums / counts
        between = float((counts * means.square()).sum()) / total
        within = max(samples - kinds.numel(), 1)
        chance = (2 * (kinds.numel() - 1) / ((samples - 1) * within)) ** 0.5
        by_kind = 1 - (1 - between) * (samples - 1) / within - _BY_CHANCE * chance
        offset = column - column.mean()
        by_line = float((offset[:, None] * centred).sum(0).square().sum() / offset.square().sum()) / total
        spread = float((means - means.mean(0)).square().sum())
        order = float(means.diff(dim=0).square().sum()) / spread if spread > 0 else 0.0
        return by_line, by_kind, order

    def _tail(self, column):
        middle, deviation = _middle(column)
        farthest = max(float((column[0] - middle).abs()), float((column[-1] - middle).abs()))
        return farthest / deviation if deviation > 0 else 0.0

    def _grid(self, column):
        """How many different values there are, where they are few and lie on an even grid: whole numbers, also standardised ones."""
        distinct = column.unique_consecutive()
        if not _CODES_MIN <= distinct.numel() <= min(_CODES_MAX, _CODES_SHARE_MAX * column.numel()):
            return 0
        gaps = distinct.diff()
        parts = gaps / gaps.min()
        even = bool(((parts - parts.round()).abs() < _GRID_ERROR + _ROUNDING * parts).all())
        return distinct.numel() if even and float(parts.sum()) <= _CODES_MAX else 0


def fits(table):
    return table.dim() == 2 and 1 <= table.shape[1] <= _COLUMNS_MAX and table.dtype.is_floating_point


def _middle(column):
    """The median, and the deviation by the quartiles, of sorted values."""
    count = column.numel()
    return column[count // 2], float(column[3 * count // 4] - column[count // 4]) / _NORMAL_QUARTILES
