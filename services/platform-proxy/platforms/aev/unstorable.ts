import { invalidArgument } from "../../../shared/rpc/errors.js";

/**
 * What the platform cannot store of what was sent; undefined where that is not the reason.
 *
 * @param reason what its database said; undefined where it did not get that far.
 */
export function unstorableIn(
  sent: unknown,
  reason: string | undefined,
  fieldOf: (key: string) => string,
): string | undefined {
  if (typeof sent !== "object" || sent === null) return undefined;
  const [, most] = /value too long for type character varying\((\d+)\)/.exec(reason ?? "") ?? [];
  const problems = Object.entries(sent).flatMap(([key, value]) => {
    const texts = textsIn(value);
    const what = texts.some((text) => text.includes(NUL))
      ? HAS_NUL
      : reason === undefined && texts.some(isBlank)
        ? "must be more than blanks"
        : most !== undefined && texts.some((text) => [...text].length > Number(most))
          ? `must be at most ${most} characters`
          : undefined;
    return what === undefined ? [] : [`${fieldOf(key)}: ${what}`];
  });
  return problems.length === 0 ? undefined : problems.join("; ");
}

const NUL = "\0";
const HAS_NUL = "has a NUL character, which OpenAEV cannot store";

/**
 * Confirms that texts can be stored, where the refusal of the platform comes too late or says nothing.
 *
 * @param texts by the names of their arguments.
 * @throws ConnectError invalid_argument that names those that cannot.
 */
export function needStorable(texts: Readonly<Record<string, string | undefined>>): void {
  const wrong = Object.entries(texts).filter(([, text]) => text?.includes(NUL) === true);
  if (wrong.length > 0) throw invalidArgument(wrong.map(([name]) => `${name}: ${HAS_NUL}`).join("; "));
}

function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

/** To the platform, control characters are blanks too; an empty text clears a field. */
const isBlank = (text: string) => text !== "" && [...text.trim()].every((letter) => letter <= " ");
