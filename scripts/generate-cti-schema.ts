// npm run generate: writes the schema of threat intelligence platforms as a
// type, from which the documents of their tools get the types of their answers
// and variables.

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { minifyIntrospection, preprocessIntrospection } from "@gql.tada/internal";
import {
  buildSchema,
  getNamedType,
  type IntrospectionType,
  introspectionFromSchema,
  isInterfaceType,
  isObjectType,
} from "graphql";
import { SDL } from "../services/sandbox/cti/sdl.js";

const ROOT = join(import.meta.dirname, "..");
const PLATFORM = join(ROOT, "services/platform-proxy/platforms/cti");

const schema = buildSchema(SDL);
const objects = Object.values(schema.getTypeMap()).filter((type) => isObjectType(type) || isInterfaceType(type));
const answered = new Set(
  objects.flatMap((type) => Object.values(type.getFields())).map(({ type }) => `${getNamedType(type)}`),
);
const named = new Set(
  readdirSync(PLATFORM, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .flatMap((file) => [...readFileSync(join(PLATFORM, file), "utf8").matchAll(/\bon (\w+) \{/g)])
    .map((match) => match[1]),
);

/**
 * Of the types behind an interface or union, those with the same interfaces
 * answer a document alike. One stands for all of them, since the compiler
 * multiplies what nests; what a document names, or a field answers by itself,
 * stays.
 */
function thinned(type: IntrospectionType): IntrospectionType {
  if (type.kind !== "INTERFACE" && type.kind !== "UNION") return type;
  const alike = new Map(
    type.possibleTypes.map((member) => {
      const interfaces = objects
        .find(({ name }) => name === member.name)
        ?.getInterfaces()
        .join();
      const stays = named.has(member.name) || (type.kind === "INTERFACE" && answered.has(member.name));
      return [stays || !interfaces ? member.name : interfaces, member];
    }),
  );
  return { ...type, possibleTypes: [...alike.values()] };
}

const { __schema: whole } = introspectionFromSchema(schema);
const type = preprocessIntrospection(minifyIntrospection({ __schema: { ...whole, types: whole.types.map(thinned) } }));
writeFileSync(
  join(ROOT, "proto/gen/cti-schema.ts"),
  `// Written by scripts/generate-cti-schema.ts.\n\n/** The schema that documents of the cti server are typed by. */\nexport type introspection = ${type};\n`,
);
