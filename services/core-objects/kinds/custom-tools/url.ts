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
    throw invalidArgument(
      "url must contain its scheme and host as text: {name} is allowed only in the path and the query",
    );
  const problem = calledUrlProblem(url.replace(PLACE, "x"));
  if (problem !== undefined) throw invalidArgument(`url ${problem}`);
  const args = argumentsOf(schema);
  for (const [, name = ""] of url.matchAll(PLACE)) {
    if (!args.has(name)) {
      const known = args.size === 0 ? "it has no arguments" : `its arguments are ${[...args.keys()].join(", ")}`;
      throw invalidArgument(`url uses {${name.slice(0, 64)}}, which is not an argument of input_schema: ${known}`);
    }
    const type = args.get(name);
    if (type === "object" || type === "array")
      throw invalidArgument(`url uses {${name}}, which is an ${type}: use only texts, numbers and booleans`);
  }
  if (/[{}]/.test(url.replace(PLACE, "")))
    throw invalidArgument("url has a single { or }: write {name} for an argument, or %7B and %7D for the characters");
}
