"""Map functions with conditions, as public programs have them: each takes the module and a folder."""

from __future__ import annotations

from tests.compat.tensorflow.data_programs import listed


def one_way_or_the_other(x):
    if x > 3:  # noqa: SIM108 (TensorFlow turns statements into branches, not expressions)
        x = x * 2
    else:
        x = x - 1
    return x


def two_ways(x):
    y = x
    if x > 2 and x < 7:
        y = y + 10
    if not x % 2 == 0:  # noqa: SIM201 (as programs have it)
        y = -y
    return x, y


def by_case(tf):
    def function(x):
        name = tf.switch_case(tf.cast(x % 4, tf.int32), [lambda: x, lambda: x * 10], default=lambda: x * 100)
        return tf.cond(x > 5, lambda: {"a": name, "b": tf.constant(1)}, lambda: {"a": -x, "b": tf.constant(0)})

    return function


def choices(tf, folder):
    """Map functions whose result depends on a condition."""
    numbers = tf.data.Dataset.range(9)
    return [
        listed(numbers.map(one_way_or_the_other)),
        listed(numbers.map(two_ways).batch(4)),
        listed(numbers.map(by_case(tf))),
        [repr(numbers.map(one).element_spec) for one in (one_way_or_the_other, two_ways, by_case(tf))],
    ]


PROGRAMS = {choices.__name__: choices}
