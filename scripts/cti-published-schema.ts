// npx tsx scripts/cti-published-schema.ts FILE: writes, from the schema that the
// makers of the real platform publish (opencti-front/src/schema/relay.schema.graphql),
// the definitions of the types that the sandbox has. Tests compare every
// document with it, so it is written anew with a new version of the platform,
// or where the sandbox gets a new type.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { buildSchema, type DocumentNode, Kind, parse, print, type TypeNode, visit } from "graphql";
import { SDL } from "../services/sandbox/cti/sdl.js";

const [file] = process.argv.slice(2);
if (file === undefined) throw new Error("which file holds the published schema?");

const kept = new Set(Object.keys(buildSchema(SDL).getTypeMap()));
const named = (type: TypeNode): string => (type.kind === Kind.NAMED_TYPE ? type.name.value : named(type.type));
const listed = { enter: (node: { readonly type: TypeNode }) => (kept.has(named(node.type)) ? undefined : null) };

const whole = parse(readFileSync(file, "utf8"), { noLocation: true });
const definitions = whole.definitions.filter(
  (one) => "name" in one && one.name !== undefined && kept.has(one.name.value),
);
const published = visit({ kind: Kind.DOCUMENT, definitions } as DocumentNode, {
  // A field without arguments that its own types leave is a field still.
  InputValueDefinition: listed,
  FieldDefinition: listed,
  Directive: () => null,
  StringValue: () => null,
  NamedType: (node, _key, _parent, path) =>
    ["interfaces", "types"].includes(String(path.at(-2))) && !kept.has(node.name.value) ? null : undefined,
});
writeFileSync(
  join(import.meta.dirname, "../test/services/platform-proxy/platforms/cti/published.graphql"),
  `# Written by scripts/cti-published-schema.ts.\n\n${print(published)}\n`,
);
