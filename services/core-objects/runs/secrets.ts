import { failedPrecondition } from "../../shared/rpc/errors.js";
import type { Context } from "../context.js";
import { sealedField } from "../kinds/mcp-servers/headers.js";
import type { McpServerRecord } from "../kinds/mcp-servers/record.js";
import { lacksValue, type VariableRecord } from "../kinds/variables/record.js";
import { placeOf } from "../objects/secrets.js";
import type { Redactor } from "./redact.js";

// What is sealed of objects is opened where a run sends it, and nowhere else; what is
// opened is redacted from then on.

/** The value of a variable; "" of a secret one that was handed over without it. */
export function variableValue({ seal }: Context, variable: VariableRecord, redactor: Redactor): string {
  if (!variable.secret || lacksValue(variable)) return variable.value;
  const value = seal.open(variable.sealed, placeOf({ plural: "variables" }, variable._id, "sealed"));
  redactor.add(value);
  return value;
}

/** The credential of an integration; "" for none. */
export function credentialOf(
  { seal }: Context,
  { _id, sealed }: { readonly _id: string; readonly sealed: string },
  redactor: Redactor,
): string {
  if (sealed === "") return "";
  const credential = seal.open(sealed, placeOf({ plural: "integrations" }, _id, "sealed"));
  redactor.add(credential);
  return credential;
}

/** The headers that a remote MCP server is sent. */
export function headersOf(
  { seal }: Context,
  { _id, headers }: McpServerRecord,
  redactor: Redactor,
): Record<string, string> {
  return Object.fromEntries(
    headers.map(({ name, sealed }) => {
      if (sealed === "") throw failedPrecondition(`its header ${name} has no value: set it with put_headers`);
      const value = seal.open(sealed, placeOf({ plural: "MCP servers" }, _id, sealedField(name)));
      redactor.add(value);
      // What a scheme says before it is no secret, and an echo may leave it out.
      const [, credential = ""] = /^\w+ +(\S{8,})$/.exec(value) ?? [];
      redactor.add(credential);
      return [name, value];
    }),
  );
}
