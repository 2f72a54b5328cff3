// JSON texts that are hard to carry unharmed, for properties.
import fc from "fast-check";

const digits = (minLength: number, maxLength: number) =>
  fc.string({ unit: fc.constantFrom(..."0123456789"), minLength, maxLength });

/** The text of any JSON number: of any length, with or without a fraction and a power of ten. */
export function numberText(): fc.Arbitrary<string> {
  const whole = fc.oneof(
    fc.constant("0"),
    fc.tuple(fc.constantFrom(..."123456789"), digits(0, 25)).map(([first, rest]) => first + rest),
  );
  const fraction = fc.oneof(
    fc.constant(""),
    digits(1, 25).map((text) => `.${text}`),
  );
  const power = fc.oneof(
    fc.constant(""),
    fc.tuple(fc.constantFrom("e", "E", "e+", "e-"), digits(1, 4)).map(([sign, text]) => sign + text),
  );
  return fc.tuple(fc.constantFrom("", "-"), whole, fraction, power).map((parts) => parts.join(""));
}

/** Strings with what databases, providers and JavaScript stumble over. */
export function hardString(): fc.Arbitrary<string> {
  const pieces = [
    "\u0000",
    "\ud800",
    "\udc00",
    "😀",
    "\\u0000",
    '"',
    "\\",
    "12345678901234567890",
    "\u2028",
    "é",
  ];
  return fc
    .array(fc.oneof(fc.constantFrom(...pieces), fc.string({ maxLength: 5, unit: "binary" })), {
      maxLength: 4,
    })
    .map((parts) => parts.join(""));
}

const hardKey = fc.oneof(
  hardString(),
  fc.constantFrom(
    "__proto__",
    "constructor",
    "prototype",
    "toString",
    "",
    "0",
    "17",
    "1e400",
    "-0",
    "kind",
    "id",
  ),
);

/** JSON text of any value, without repeated keys. */
export function jsonText(): fc.Arbitrary<string> {
  const { value } = fc.letrec<{ value: string }>((tie) => ({
    value: fc.oneof(
      { depthSize: "small", withCrossShrink: true },
      fc.constantFrom("null", "true", "false"),
      numberText(),
      hardString().map((text) => JSON.stringify(text)),
      fc.array(tie("value"), { maxLength: 4 }).map((items) => `[${items.join(" ,")}]`),
      fc
        .uniqueArray(fc.tuple(hardKey, tie("value")), { selector: ([key]) => key, maxLength: 4 })
        .map((members) => `{${members.map(([key, text]) => `${JSON.stringify(key)}: ${text}`).join()}}`),
    ),
  }));
  return value;
}
