"""Reference of OpenCV's fixed-point affine warp and its HLS conversions in plain NumPy."""

from __future__ import annotations

import numpy as np

F = np.float32


def cubic(x):
    """Return the 4 weights of the cubic kernel."""
    a = F(-0.75)
    first = ((a * (x + F(1)) - F(5) * a) * (x + F(1)) + F(8) * a) * (x + F(1)) - F(4) * a
    second = ((a + F(2)) * x - (a + F(3))) * x * x + F(1)
    third = ((a + F(2)) * (F(1) - x) - (a + F(3))) * (F(1) - x) * (F(1) - x) + F(1)
    return [first, second, third, F(1) - first - second - third]


def lanczos(x):
    """Return the 8 weights of the Lanczos kernel, with OpenCV's sums of angles."""
    if x == 0:
        return [F(tap == 3) for tap in range(8)]
    half = 0.5**0.5
    rotations = [(1, 0), (-half, -half), (0, 1), (half, -half), (-1, 0), (half, half), (0, -1), (-half, half)]
    start = -(float(x) + 3) * np.pi / 4
    weights = []
    for tap, (sine, cosine) in enumerate(rotations):
        angle = -(float(x) + 3 - tap) * np.pi / 4
        weights.append(F((sine * np.sin(start) + cosine * np.cos(start)) / angle**2))
    total = F(0)
    for weight in weights:
        total += weight
    return [weight * (F(1) / total) for weight in weights]


KERNELS = {"bilinear": lambda x: [F(1) - x, x], "cubic": cubic, "lanczos4": lanczos}


def fixed_point_weights(kernel, row_fraction, column_fraction):
    """Return the integer weights of a kernel, whose sum is 2**15; fractions are in units of 1/32 pixel."""
    rows, columns = kernel(F(row_fraction) / F(32)), kernel(F(column_fraction) / F(32))
    weights = np.rint(np.array([[row * column for column in columns] for row in rows], F) * F(1 << 15)).astype(np.int64)
    missing, middle = (1 << 15) - weights.sum(), len(rows) // 2
    inner = weights[middle : middle + 2, middle : middle + 2].ravel()
    if missing:
        corrected = int(inner.argmax() if missing > 0 else inner.argmin())
        if len(rows) > 2:
            weights[middle + corrected // 2, middle + corrected % 2] += missing
    return weights


def warp_affine(image, inverse, size, kernel, fill):
    """Warp an image, one pixel at a time."""
    (a, b, c), (d, e, f) = inverse.tolist()
    height, width, channels = image.shape
    out = np.empty((*size, channels), np.uint8)

    def to_fixed_point(value):
        return int(np.rint(value * 1024))

    def pixel_or_fill(y, x):
        return image[y, x].astype(int) if 0 <= y < height and 0 <= x < width else np.array(fill[:channels])

    for y in range(size[0]):
        for x in range(size[1]):
            source_x = to_fixed_point(a * x) + to_fixed_point(b * y + c)
            source_y = to_fixed_point(d * x) + to_fixed_point(e * y + f)
            if kernel == "nearest":
                out[y, x] = pixel_or_fill((source_y + 512) >> 10, (source_x + 512) >> 10)
                continue
            source_x, source_y = (source_x + 16) >> 5, (source_y + 16) >> 5
            weights = fixed_point_weights(KERNELS[kernel], source_y & 31, source_x & 31)
            radius = len(weights) // 2 - 1
            total = sum(
                weights[row, column] * pixel_or_fill((source_y >> 5) - radius + row, (source_x >> 5) - radius + column)
                for row, column in np.ndindex(*weights.shape)
            )
            out[y, x] = np.clip((total + (1 << 14)) >> 15, 0, 255)
    return out


def rgb_to_hls(pixel):
    """Return hue, lightness and saturation of one color."""
    red, green, blue = (F(level) * F(1 / 255) for level in pixel)
    largest, smallest = max(red, green, blue), min(red, green, blue)
    spread, total = largest - smallest, largest + smallest
    lightness, hue, saturation = total * F(0.5), F(0), F(0)
    if spread > np.finfo(F).eps:
        saturation = spread / (total if lightness < F(0.5) else F(2) - total)
        unit = F(60) / spread
        if largest == red:
            hue = (green - blue) * unit
        elif largest == green:
            hue = (blue - red) * unit + F(120)
        else:
            hue = (red - green) * unit + F(240)
        hue = hue + F(360) if hue < 0 else hue
    return [int(np.rint(value)) for value in (hue * F(0.5), lightness * F(255), saturation * F(255))]


def hls_to_rgb(pixel):
    """Return the color of hue, lightness and saturation."""
    hue, lightness, saturation = F(pixel[0]) * F(6 / 180), F(pixel[1]) * F(1 / 255), F(pixel[2]) * F(1 / 255)
    if pixel[2] == 0:
        return [int(pixel[1])] * 3
    largest = (
        lightness * (F(1) + saturation) if lightness <= F(0.5) else lightness + saturation - lightness * saturation
    )
    smallest = F(2) * lightness - largest
    hue = hue - F(6) if hue >= 6 else hue
    sector = int(hue)
    fraction = hue - F(sector)
    falling = smallest + (largest - smallest) * (F(1) - fraction)
    rising = smallest + (largest - smallest) * fraction
    color = [
        (largest, rising, smallest),
        (falling, largest, smallest),
        (smallest, largest, rising),
        (smallest, falling, largest),
        (rising, smallest, largest),
        (largest, smallest, falling),
    ][sector]
    return [int(np.clip(np.rint(channel * F(255)), 0, 255)) for channel in color]
