// Numbers of JSON that a double cannot hold: 12345678901234567890, 0.1234567890123456789012, 1e400, -0.

/** Stands in for such a number wherever JSON values travel. Its text is what was sent, digit for digit. */
export class ExactNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  /** The nearest double, for checks; a number past the largest double becomes the largest one. */
  toNumber(): number {
    const nearest = Number(this.text);
    if (!Number.isFinite(nearest)) return Math.sign(nearest) * Number.MAX_VALUE;
    // A fraction must not look like a whole number, as long as doubles have fractions of that size.
    if (!Number.isInteger(nearest) || isPlain(this.text) || !toDecimal(this.text).includes("e-"))
      return nearest;
    if (nearest === 0) return this.text.startsWith("-") ? -Number.MIN_VALUE : Number.MIN_VALUE;
    return nearest * (1 - Number.EPSILON / 2);
  }

  /**
   * For writers of JSON that are not ours: the digits as a string, since a plain number would be a wrong one.
   * Minus zero is no wrong number as zero.
   */
  toJSON(): string | number {
    if (marks.current !== null) return marks.current + this.text;
    return toDecimal(this.text) === "0" ? 0 : this.text;
  }

  toString(): string {
    return this.text;
  }
}

/** Whether a number's text means something else than the double that it is read as, as JSON writes that double. */
export function isInexact(text: string): boolean {
  const nearest = Number(text);
  if (Object.is(nearest, -0) || !Number.isFinite(nearest)) return true;
  const written = String(nearest);
  if (written === text || (text.length <= SAFE_CHARACTERS && Math.abs(nearest) >= SMALLEST_NORMAL))
    return false;
  // Whole numbers in plain digits have one spelling each.
  return (isPlain(written) && isPlain(text)) || toDecimal(written) !== toDecimal(text);
}

function isPlain(text: string): boolean {
  return !/[.eE]/.test(text);
}

/** A double holds every number of so many digits, unless it is out of a double's range. */
export const SAFE_CHARACTERS = 15;
const SMALLEST_NORMAL = 2.3e-308;

/**
 * One text for each value: the digits without zeros around them, and the power of ten of the last one.
 *
 * @example toDecimal("-1.50"); // "-15e-1", as for "-15E-1"
 */
export function toDecimal(text: string): string {
  const [mantissa = "", power = "0"] = text.split(/e/i);
  const sign = mantissa.startsWith("-") ? "-" : "";
  const [whole = "", fraction = ""] = mantissa.slice(sign.length).split(".");
  const digits = whole + fraction;
  let start = 0;
  while (digits[start] === "0") start++;
  let end = digits.length;
  while (end > start && digits[end - 1] === "0") end--;
  if (start === end) return "0";
  const shift = digits.length - end - fraction.length;
  // Arithmetic on a power of millions of digits takes seconds; such a power is compared as it is written.
  const exponent = power.length > MAX_POWER_DIGITS ? `${power}+${shift}` : BigInt(power) + BigInt(shift);
  return `${sign}${digits.slice(start, end)}e${exponent}`;
}

const MAX_POWER_DIGITS = 1_000;

/** While {@link writeMarked} runs, what it wants exact numbers to start with. */
const marks: { current: string | null } = { current: null };

/** `JSON.stringify`, with a mark and the digits as a string in place of each exact number. */
export function writeMarked(value: unknown, mark: string): string {
  marks.current = mark;
  try {
    return JSON.stringify(value);
  } finally {
    marks.current = null;
  }
}
