import { type DescField, type DescMessage, type FileRegistry, getOption, ScalarType } from "@bufbuild/protobuf";
import { type FieldRules, field as fieldRules } from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import { DOCUMENTS, FIXED_SIZE, FOREIGN_BOUNDS, innerRulesOf, lengthOf } from "../../services/shared/rpc/bounds.js";

/**
 * Everything that a request could hold without end: a text without a length, a
 * list without a number of items, a message that contains itself, and somebody
 * else's message that bounds.ts does not know. One line each.
 */
export function boundProblemsOf(image: FileRegistry): string[] {
  const problems = new Set<string>();
  const walked = new Set<DescMessage>();
  for (const desc of image) {
    if (desc.kind !== "service") continue;
    for (const { input } of desc.methods) {
      if (FOREIGN_BOUNDS[input.typeName] === undefined) walk(input, []);
    }
  }
  return [...problems];

  function walk(message: DescMessage, path: readonly DescMessage[]): void {
    const { typeName, fields } = message;
    if (FIXED_SIZE.has(typeName) || DOCUMENTS.has(typeName)) return;
    if (/^(google|grpc|opentelemetry)\./.test(typeName)) {
      problems.add(`${typeName} is bounded nowhere`);
    } else if (path.includes(message)) {
      problems.add(`${typeName} contains itself`);
    } else if (!walked.has(message)) {
      for (const field of fields) {
        for (const problem of problemsOf(field)) problems.add(`${typeName}.${field.name} ${problem}`);
        if (field.message !== undefined) walk(field.message, [...path, message]);
      }
      walked.add(message);
    }
  }
}

function* problemsOf(field: DescField): Iterable<string> {
  const rules = getOption(field, fieldRules);
  if (field.fieldKind !== "list" && field.fieldKind !== "map") {
    if (isOpen(field.scalar, rules)) yield "has no max_len";
    return;
  }
  const { most, keys, values } = innerRulesOf(rules);
  if (most === undefined) yield "holds any number of items";
  if (isOpen(field.scalar, values)) yield "has items without max_len";
  if (field.fieldKind === "map" && isOpen(field.mapKey, keys)) yield "has keys without max_len";
}

function isOpen(scalar: ScalarType | undefined, rules: FieldRules | undefined): boolean {
  if (scalar !== ScalarType.STRING && scalar !== ScalarType.BYTES) return false;
  return rules === undefined || lengthOf(rules) === undefined;
}
