import { validation } from "../errors.js";
import type { Thing } from "../thing.js";
import type { EditInput } from "./edit.js";

// An indicator's score is lowered with time by the first rule that its type
// meets, and its validity ends when the score has fallen to the rule's last.

interface DecayRule {
  /** In days. */
  readonly lifetime: number;
  readonly pound: number;
}

/** The score at which an indicator is withdrawn, in every rule that ships. */
const REVOKE_SCORE = 20;
const DAY_MS = 86_400_000;
const FACTOR = 3;

const RULES: readonly (readonly [types: readonly string[], rule: DecayRule])[] = [
  [["StixFile", "Artifact"], { lifetime: 460, pound: 0.3 }],
  [["IPv4-Addr", "IPv6-Addr", "Url"], { lifetime: 47, pound: 0.55 }],
  [["Domain-Name"], { lifetime: 300, pound: 0.7 }],
];
const FALLBACK: DecayRule = { lifetime: 470, pound: 0.35 };

const ruleOf = (type: unknown): DecayRule => RULES.find(([types]) => types.includes(String(type)))?.[1] ?? FALLBACK;

/** The validity and score of a new indicator: what is given as its end holds only where that is past. */
export function decayOf(attributes: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const now = new Date().toISOString();
  const from = typeof attributes.valid_from === "string" ? new Date(attributes.valid_from).toISOString() : now;
  const score = Number(attributes.x_opencti_score ?? 50);
  const { lifetime, pound } = ruleOf(attributes.x_opencti_main_observable_type);
  const asked = typeof attributes.valid_until === "string" ? new Date(attributes.valid_until).toISOString() : undefined;
  if (asked !== undefined && asked < from)
    throw validation("The valid until date must be greater than the valid from date", "valid_until");
  const until = asked ?? new Date(Date.parse(from) + lifetime * DAY_MS).toISOString();
  const shared = { valid_from: from, x_opencti_score: score };
  if (until <= now) return { ...shared, valid_until: until, revoked: true };
  const days = score > REVOKE_SCORE ? lifetime * (1 - REVOKE_SCORE / score) ** (FACTOR * pound) : 0;
  return {
    ...shared,
    valid_until: new Date(Date.parse(from) + Math.round(days * DAY_MS)).toISOString(),
    decay_base_score: score,
  };
}

/** The edits of an indicator together with what they bring with them. */
export function withDecay(thing: Thing, input: readonly EditInput[]): EditInput[] {
  const { attributes } = thing;
  const of = (key: string) => input.find((edit) => edit.key === key);
  const [from, until] = ["valid_from", "valid_until"].map((key) => String(of(key)?.value[0] ?? attributes[key]));
  if ((of("valid_from") || of("valid_until")) && Date.parse(String(until)) < Date.parse(String(from)))
    throw validation("The valid until date must be greater than the valid from date", "valid_from");
  const decays = attributes.decay_base_score !== undefined;
  const wasRevoked = attributes.revoked === true;
  const edits = input.filter(({ key }) => !["valid_until", "x_opencti_score", "revoked"].includes(key));
  const set = (key: string, value: unknown) => edits.push({ key, value: [value] });
  let revokes = false;
  let revives = false;
  const [revoked, validUntil, score] = [of("revoked"), of("valid_until"), of("x_opencti_score")];
  if (revoked && !validUntil && !score) {
    revokes = revoked.value[0] === true && !wasRevoked;
    revives = revoked.value[0] === false && wasRevoked;
    edits.push(revoked);
  }
  if (validUntil) {
    const isPast = Date.parse(String(validUntil.value[0])) < Date.now();
    revokes = isPast && !wasRevoked;
    revives = !isPast && wasRevoked;
    if (revokes || revives) set("revoked", revokes);
  }
  const now = new Date();
  const begin = (base: number) => {
    set("decay_base_score", base);
    const { lifetime } = ruleOf(attributes.x_opencti_main_observable_type);
    set("valid_until", new Date(now.getTime() + lifetime * DAY_MS).toISOString());
    set("x_opencti_score", base);
  };
  if (decays && score && Number(score.value[0]) !== Number(attributes.decay_base_score) && !validUntil) {
    begin(Number(score.value[0]));
  } else if (revokes) {
    set("x_opencti_score", decays ? REVOKE_SCORE : 0);
    set("x_opencti_detection", false);
    set("valid_until", now.toISOString());
  } else if (revives) {
    if (decays) begin(Number(attributes.decay_base_score));
    else {
      set("x_opencti_score", 50);
      set("valid_until", new Date(now.getTime() + 90 * DAY_MS).toISOString());
      set("valid_from", now.toISOString());
    }
  }
  for (const edit of [validUntil, revoked]) if (edit && !edits.some(({ key }) => key === edit.key)) edits.push(edit);
  return edits;
}
