import { distance } from "fastest-levenshtein";
import { invalidArgument } from "../../shared/rpc/errors.js";
import { scopeOf } from "../../shared/rpc/steps/access.js";
import { isForAccounts } from "../../shared/rpc/steps/allow-list.js";
import { readImage } from "../../shared/tools/image.js";

/** Reflection states its scope where it is mounted, and not in its proto. */
const FOREIGN_SCOPES: Readonly<Record<string, string>> = {
  "grpc.reflection.v1.ServerReflection": "account",
  "opentelemetry.proto.collector.logs.v1.LogsService": "traces:write",
  "opentelemetry.proto.collector.trace.v1.TraceService": "traces:write",
};
/** Of all names together, in characters: each assertion carries them in a header. */
const MOST_TEXT = 3_000;
const NEAR = 3;

let known: ReadonlySet<string> | undefined;

/**
 * The method list of a service account.
 *
 * @throws ConnectError invalid_argument for a name that the API does not have, or that no service account may call.
 */
export function methodsOf(names: readonly string[]): string[] {
  const wanted = [...new Set(names)];
  known ??= callable();
  for (const name of wanted) if (!known.has(name)) throw invalidArgument(`methods: ${refusalOf(name, known)}`);
  if (wanted.reduce((sum, name) => sum + name.length, 0) > MOST_TEXT)
    throw invalidArgument(
      `methods: the names have more than ${MOST_TEXT} characters together: use package.Service/* for whole services`,
    );
  return wanted;
}

/** Every rpc that a service account may have, and the services of them with an asterisk. */
function callable(): ReadonlySet<string> {
  const names = new Set<string>();
  for (const service of readImage()) {
    if (service.kind !== "service") continue;
    for (const desc of service.methods) {
      const stated = FOREIGN_SCOPES[service.typeName];
      if (stated === undefined && service.typeName.startsWith("grpc.")) continue;
      const needed = scopeOf({ desc, handle: () => undefined, ...(stated !== undefined && { scope: stated }) });
      if (needed === "public" || !isForAccounts(desc, needed)) continue;
      names.add(`${service.typeName}/${desc.name}`);
      names.add(`${service.typeName}/*`);
    }
  }
  return names;
}

function refusalOf(name: string, names: ReadonlySet<string>): string {
  const [service = "", method = ""] = name.split("/");
  const desc = readImage().getService(service);
  if (desc !== undefined && (method === "*" || desc.methods.some((one) => one.name === method)))
    return `${name} cannot be on the list of a service account: it is public, or for people or administrators alone`;
  const near = [...names]
    .map((one) => ({ one, far: distance(one, name) }))
    .sort((a, b) => a.far - b.far)
    .slice(0, NEAR);
  return `there is no rpc ${JSON.stringify(name)}; the nearest are ${near.map(({ one }) => one).join(", ")}`;
}
