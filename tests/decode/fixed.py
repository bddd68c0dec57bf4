"""OpenCV's fixed-point affine map and its hue, lightness and saturation, in plain NumPy."""

from __future__ import annotations

import numpy as np

F = np.float32


def cubic(x):
    a = F(-0.75)
    first = ((a * (x + F(1)) - F(5) * a) * (x + F(1)) + F(8) * a) * (x + F(1)) - F(4) * a
    second = ((a + F(2)) * x - (a + F(3))) * x * x + F(1)
    third = ((a + F(2)) * (F(1) - x) - (a + F(3))) * (F(1) - x) * (F(1) - x) + F(1)
    return [first, second, third, F(1) - first - second - third]


def lanczos(x):
    """Weights by the definition, in the sums of angles that OpenCV takes."""
    if x == 0:
        return [F(tap == 3) for tap in range(8)]
    half = 0.5**0.5
    turns = [(1, 0), (-half, -half), (0, 1), (half, -half), (-1, 0), (half, half), (0, -1), (-half, half)]
    start = -(float(x) + 3) * np.pi / 4
    weights = []
    for tap, (sine, cosine) in enumerate(turns):
        angle = -(float(x) + 3 - tap) * np.pi / 4
        weights.append(F((sine * np.sin(start) + cosine * np.cos(start)) / angle**2))
    total = F(0)
    for weight in weights:
        total += weight
    return [weight * (F(1) / total) for weight in weights]


CURVES = {"bilinear": lambda x: [F(1) - x, x], "cubic": cubic, "lanczos4": lanczos}


def weights_of(curve, down, across):
    """Whole weights of one step down and across, whose sum is 2**15."""
    rows, columns = curve(F(down) / F(32)), curve(F(across) / F(32))
    made = np.rint(np.array([[row * column for column in columns] for row in rows], F) * F(1 << 15)).astype(np.int64)
    missing, middle = (1 << 15) - made.sum(), len(rows) // 2
    inner = made[middle : middle + 2, middle : middle + 2].ravel()
    if missing:
        chosen = int(inner.argmax() if missing > 0 else inner.argmin())
        if len(rows) > 2:
            made[middle + chosen // 2, middle + chosen % 2] += missing
    return made


def warped(image, inverse, size, kernel, fill):
    """One pixel at a time."""
    (a, b, c), (d, e, f) = inverse.tolist()
    height, width, channels = image.shape
    out = np.empty((*size, channels), np.uint8)

    def fixed(value):
        return int(np.rint(value * 1024))

    def at(y, x):
        return image[y, x].astype(int) if 0 <= y < height and 0 <= x < width else np.array(fill[:channels])

    for y in range(size[0]):
        for x in range(size[1]):
            across, down = fixed(a * x) + fixed(b * y + c), fixed(d * x) + fixed(e * y + f)
            if kernel == "nearest":
                out[y, x] = at((down + 512) >> 10, (across + 512) >> 10)
                continue
            across, down = (across + 16) >> 5, (down + 16) >> 5
            weights = weights_of(CURVES[kernel], down & 31, across & 31)
            reach = len(weights) // 2 - 1
            total = sum(
                weights[row, column] * at((down >> 5) - reach + row, (across >> 5) - reach + column)
                for row, column in np.ndindex(*weights.shape)
            )
            out[y, x] = np.clip((total + (1 << 14)) >> 15, 0, 255)
    return out


def to_hls(pixel):
    """One color to hue, lightness and saturation."""
    red, green, blue = (F(level) * F(1 / 255) for level in pixel)
    most, least = max(red, green, blue), min(red, green, blue)
    spread, total = most - least, most + least
    lightness, hue, saturation = total * F(0.5), F(0), F(0)
    if spread > np.finfo(F).eps:
        saturation = spread / (total if lightness < F(0.5) else F(2) - total)
        unit = F(60) / spread
        if most == red:
            hue = (green - blue) * unit
        elif most == green:
            hue = (blue - red) * unit + F(120)
        else:
            hue = (red - green) * unit + F(240)
        hue = hue + F(360) if hue < 0 else hue
    return [int(np.rint(value)) for value in (hue * F(0.5), lightness * F(255), saturation * F(255))]


def from_hls(pixel):
    """One color back."""
    hue, lightness, saturation = F(pixel[0]) * F(6 / 180), F(pixel[1]) * F(1 / 255), F(pixel[2]) * F(1 / 255)
    if pixel[2] == 0:
        return [int(pixel[1])] * 3
    most = lightness * (F(1) + saturation) if lightness <= F(0.5) else lightness + saturation - lightness * saturation
    least = F(2) * lightness - most
    hue = hue - F(6) if hue >= 6 else hue
    sixth = int(hue)
    past = hue - F(sixth)
    falling, rising = least + (most - least) * (F(1) - past), least + (most - least) * past
    order = [
        (most, rising, least),
        (falling, most, least),
        (least, most, rising),
        (least, falling, most),
        (rising, least, most),
        (most, least, falling),
    ][sixth]
    return [int(np.clip(np.rint(part * F(255)), 0, 255)) for part in order]
