import { type DescMessage, type DescMethod, isFieldSet, isMessage, type Message, ScalarType } from "@bufbuild/protobuf";

/** Longest id that is written down, in characters: a line is written of requests that broke every rule too. */
const MAX_TARGET = 128;
/** Ids that say where or why, and not what a call is about. */
const NO_TARGET = new Set(["tenant_id", "request_id"]);

/** What an audit line says of a request: the names of its arguments, never their values, and the object it is about. */
export function auditOf({ input }: DescMethod, request: unknown): { args?: string[]; target?: string } {
  if (!isMessage(request)) return {};
  const target = targetOf(input, request);
  return {
    args: input.fields.filter((field) => isFieldSet(request, field)).map((field) => field.name),
    ...(target !== "" && { target }),
  };
}

/** The first id that a request names: of its own API's objects, `id`; of tools, by a noun; of signing keys, `kid`. */
function targetOf({ fields }: DescMessage, request: Message): string {
  for (const { name, scalar, localName } of fields) {
    if (scalar !== ScalarType.STRING || !/(?:^|_)id$|^kid$/.test(name) || NO_TARGET.has(name)) continue;
    const id = (request as unknown as Record<string, string | undefined>)[localName];
    if (id !== undefined && id !== "") return id.slice(0, MAX_TARGET);
  }
  return "";
}
