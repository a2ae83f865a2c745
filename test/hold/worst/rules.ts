import { type DescField, type DescMessage, fromJson, getOption, type JsonObject } from "@bufbuild/protobuf";
import { createValidator } from "@bufbuild/protovalidate";
import { type FieldRules, field as fieldRules } from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import { innerRulesOf, lengthOf } from "../../../services/shared/rpc/bounds.js";

const validator = createValidator();

/** The rules of a field. */
export function rulesOf(field: DescField): FieldRules | undefined {
  return getOption(field, fieldRules);
}

/** The rules of a field's items, and how many there may be. */
export function itemRulesOf(field: DescField): { readonly most: number; readonly values: FieldRules | undefined } {
  const { most = 1, values } = innerRulesOf(rulesOf(field) ?? NONE);
  return { most, values };
}

const NONE = { type: { case: undefined } } as unknown as FieldRules;

/** The most characters that a text of these rules has. */
export function mostCharacters(rules: FieldRules | undefined): number {
  const length = rules === undefined ? undefined : lengthOf(rules);
  if (length === undefined) return 64;
  return "chars" in length ? length.chars : length.bytes;
}

/** Cuts a text to what the rules allow, in characters and bytes. */
export function cutTo(rules: FieldRules | undefined, text: string): string {
  const most = mostCharacters(rules);
  let cut = text.length <= most ? text : [...text].slice(0, most).join("");
  const bytes = rules?.type.case === "string" ? Number(rules.type.value.maxBytes) : 0;
  while (bytes > 0 && Buffer.byteLength(cut) > bytes) {
    cut = cut.slice(0, Math.floor((cut.length * bytes) / Buffer.byteLength(cut)));
  }
  return /\p{Surrogate}$/u.test(cut) ? cut.slice(0, -1) : cut;
}

/** Whether a text matches the pattern that its rules state, where they state one. */
export function matches(rules: FieldRules | undefined, text: string): boolean {
  const pattern = rules?.type.case === "string" ? rules.type.value.pattern : "";
  return pattern === "" || new RegExp(pattern, "u").test(text);
}

/** How many rules of its message an object breaks. */
export function broken(message: DescMessage, json: JsonObject): number {
  try {
    const result = validator.validate(message, fromJson(message, json));
    return result.kind === "invalid" ? result.violations.length : 0;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
