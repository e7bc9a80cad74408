/**
 * Simulates defects of printers and cameras on grayscale pictures.
 *
 * The results, including the noise, are the same on every device. Fast enough for a phone.
 */

/** A square grayscale picture, row by row; 0 is black, 255 white. `side` is in pixels. */
export interface Grey {
  shades: Uint8Array;
  side: number;
}

/** Converts RGBA pixels to grayscale, as decoders do, with the luma weights of ITU-R BT.601. */
export function greyOf(pixels: Uint8ClampedArray, side: number): Grey {
  const shades = new Uint8Array(side * side);
  for (let at = 0, from = 0; at < shades.length; at += 1, from += 4) {
    const red = pixels[from] ?? 0;
    const green = pixels[from + 1] ?? 0;
    const blue = pixels[from + 2] ?? 0;
    shades[at] = 0.299 * red + 0.587 * green + 0.114 * blue + 0.5;
  }
  return { shades, side };
}

/** Simulates defocus with two box blurs of `width` pixels, an odd number. */
export function blurred(picture: Grey, width: number): Grey {
  const twice = (one: Grey) => movingAverages(movingAverages(one, width), width);
  return filterRowsAndColumns(picture, twice);
}

/** Simulates ink spread: each pixel becomes the darkest within `reach` pixels (erosion). */
export function spread(picture: Grey, reach: number): Grey {
  return inverted(worn(inverted(picture), reach));
}

/** Simulates missing ink: each pixel becomes the lightest within `reach` pixels (dilation). */
export function worn(picture: Grey, reach: number): Grey {
  return filterRowsAndColumns(picture, (one) => lightestNearby(one, reach));
}

function inverted({ shades, side }: Grey): Grey {
  const out = new Uint8Array(shades.length);
  for (let at = 0; at < out.length; at += 1) out[at] = 255 - (shades[at] ?? 0);
  return { shades: out, side };
}

function filterRowsAndColumns(picture: Grey, rows: (picture: Grey) => Grey): Grey {
  return transposed(rows(transposed(rows(picture))));
}

function transposed({ shades, side }: Grey): Grey {
  const out = new Uint8Array(shades.length);
  for (let y = 0, at = 0; y < side; y += 1) {
    for (let x = 0, to = y; x < side; x += 1, to += side, at += 1) out[to] = shades[at] ?? 0;
  }
  return { shades: out, side };
}

/** Returns the moving average of each row over `width` pixels. Repeats the pixels at both ends. */
function movingAverages({ shades, side }: Grey, width: number): Grey {
  const reach = (width - 1) / 2;
  const out = new Uint8Array(shades.length);
  for (let row = 0; row < shades.length; row += side) {
    const first = shades[row] ?? 0;
    const last = shades[row + side - 1] ?? 0;
    let sum = first * reach;
    for (let x = 0; x < reach; x += 1) sum += shades[row + x] ?? 0;
    for (let x = 0; x < side; x += 1) {
      sum += x + reach < side ? (shades[row + x + reach] ?? 0) : last;
      out[row + x] = sum / width + 0.5;
      sum -= x >= reach ? (shades[row + x - reach] ?? 0) : first;
    }
  }
  return { shades: out, side };
}

/** Returns the lightest shade within `reach` pixels of each pixel in its row. */
function lightestNearby({ shades: given, side }: Grey, reach: number): Grey {
  let shades = given;
  for (let step = 0; step < reach; step += 1) {
    const out = new Uint8Array(shades.length);
    for (let row = 0; row < shades.length; row += side) {
      let before = shades[row] ?? 0;
      let here = before;
      for (let x = 0; x < side; x += 1) {
        const after = x + 1 < side ? (shades[row + x + 1] ?? 0) : here;
        const lighter = before > here ? before : here;
        out[row + x] = lighter > after ? lighter : after;
        before = here;
        here = after;
      }
    }
    shades = out;
  }
  return { shades, side };
}

/** Simulates distance: scales the side by `share`. Each pixel is the mean of the area it covers. */
export function smaller(picture: Grey, share: number): Grey {
  const width = 2 * Math.round((1 / share - 1) / 2) + 1;
  const means =
    width > 1 ? filterRowsAndColumns(picture, (one) => movingAverages(one, width)) : picture;
  const side = Math.round(picture.side * share);
  return warped(means, side, [1 / share, 0, 0, 0, 1 / share, 0, 0, 0]);
}

/**
 * Rotates a picture by `degrees` and tilts it: the far edge is farther away than the center by a
 * share of `tilt`. Makes the code slightly smaller, so that nothing is cut off.
 */
export function askew(picture: Grey, degrees: number, tilt: number): Grey {
  const { side } = picture;
  const middle = side / 2;
  const turn = (degrees * Math.PI) / 180;
  const grown = (Math.abs(Math.cos(turn)) + Math.abs(Math.sin(turn))) * (1 + tilt / 2);
  const [cos, sin] = [grown * Math.cos(turn), grown * Math.sin(turn)];
  // Maps output to input coordinates, both relative to the center:
  // x = (a u + b v) / (g u + h v + 1). The far edge is the top.
  const far = tilt / middle;
  const [a, b, d, e] = [cos, -sin, sin, cos];
  return warped(picture, side, [a, b, middle, d, e, middle, 0, far], middle);
}

type Homography = readonly [number, number, number, number, number, number, number, number];

/**
 * Resamples a picture through a homography into a square of `side` pixels, with bilinear
 * interpolation. Outside the picture it is white.
 */
function warped(
  { shades, side: from }: Grey,
  side: number,
  [a, b, c, d, e, f, g, h]: Homography,
  middle = 0,
): Grey {
  const out = new Uint8Array(side * side).fill(255);
  const last = from - 1;
  for (let y = 0, at = 0; y < side; y += 1) {
    const v = y + 0.5 - middle;
    for (let x = 0; x < side; x += 1, at += 1) {
      const u = x + 0.5 - middle;
      const by = 1 / (g * u + h * v + 1);
      const px = (a * u + b * v) * by + c - 0.5;
      const py = (d * u + e * v) * by + f - 0.5;
      if (px < 0 || py < 0 || px >= last || py >= last) continue;
      const left = px | 0;
      const top = py | 0;
      const right = px - left;
      const down = py - top;
      const place = top * from + left;
      const upper = (shades[place] ?? 0) * (1 - right) + (shades[place + 1] ?? 0) * right;
      const below =
        (shades[place + from] ?? 0) * (1 - right) + (shades[place + from + 1] ?? 0) * right;
      out[at] = upper * (1 - down) + below * down + 0.5;
    }
  }
  return { shades: out, side };
}

/** Simulates sensor noise in low light. `deviation` is the standard deviation in shades of gray. */
export function noisy({ shades, side }: Grey, deviation: number): Grey {
  const out = new Uint8ClampedArray(shades.length);
  // The sum of four random bytes approximates a normal distribution with a deviation of 147.8.
  const scale = deviation / 147.8;
  // A 32-bit xorshift generator.
  let seed = 0x2545f491;
  for (let at = 0; at < out.length; at += 1) {
    seed ^= seed << 13;
    seed ^= seed >>> 17;
    seed ^= seed << 5;
    const sum = (seed & 255) + ((seed >>> 8) & 255) + ((seed >>> 16) & 255) + (seed >>> 24);
    out[at] = (shades[at] ?? 0) + (sum - 510) * scale;
  }
  return { shades: new Uint8Array(out.buffer), side };
}

/**
 * Simulates the reflection of a lamp: lifts each shade toward white by up to `share`, most in a
 * spot at the upper left, and darkens the picture toward the lower right by up to half of `share`.
 */
export function glaring({ shades, side }: Grey, share: number): Grey {
  const out = new Uint8Array(shades.length);
  const spot = 0.35 * side;
  const wide = 0.3 * side;
  for (let y = 0, at = 0; y < side; y += 1) {
    for (let x = 0; x < side; x += 1, at += 1) {
      const off = ((x - spot) * (x - spot) + (y - spot) * (y - spot)) / (wide * wide);
      const lift = share / (1 + off);
      const light = 1 - (share * (x + y)) / (4 * side);
      const shade = (shades[at] ?? 0) * light;
      out[at] = shade + (255 - shade) * lift + 0.5;
    }
  }
  return { shades: out, side };
}
