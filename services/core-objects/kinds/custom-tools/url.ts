import { calledUrlProblem } from "../../../shared/outgoing/named-url.js";
import { invalidArgument } from "../../../shared/rpc/errors.js";
import { argumentsOf } from "./input-schema.js";

const PLACE = /\{([^{}]*)\}/g;

/**
 * Checks a custom tool's URL: where it leads, and that what is written into it
 * are arguments of the tool. Arguments are written into path and query alone, so
 * that no model chooses where the request goes.
 *
 * @param schema the tool's schema, as it is kept.
 * @throws ConnectError invalid_argument.
 */
export function checkUrl(url: string, schema: string): void {
  if (/^[^/?#]*(?:\/\/)?[^/?#]*[{}]/.test(url))
    throw invalidArgument("url must say scheme and host itself: {name} may stand in its path and query alone");
  const problem = calledUrlProblem(url.replace(PLACE, "x"));
  if (problem !== undefined) throw invalidArgument(`url ${problem}`);
  const args = argumentsOf(schema);
  for (const [, name = ""] of url.matchAll(PLACE)) {
    if (!args.has(name)) {
      const known = args.size === 0 ? "it has none" : `it has ${[...args.keys()].join(", ")}`;
      throw invalidArgument(`url writes in {${name.slice(0, 64)}}, which input_schema does not have: ${known}`);
    }
    const type = args.get(name);
    if (type === "object" || type === "array")
      throw invalidArgument(`url writes in {${name}}, which is an ${type}: write in texts, numbers and booleans`);
  }
  if (/[{}]/.test(url.replace(PLACE, "")))
    throw invalidArgument("url has a { or } alone: write {name}, or %7B and %7D");
}
