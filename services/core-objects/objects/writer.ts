import { createGuard } from "../../shared/outgoing/guard.js";
import { refusalOf } from "../../shared/outgoing/named-url.js";
import type { Call } from "../../shared/rpc/call.js";
import { invalidArgument } from "../../shared/rpc/errors.js";
import type { Context } from "../context.js";
import type { Delegation, DelegationOptions } from "../delegations.js";
import { filterOf } from "../policy.js";
import type { ObjectRecord } from "../record.js";
import { readable } from "./gate.js";
import type { Model } from "./model.js";
import { placeOf } from "./secrets.js";
import { checkToolNames } from "./tool-names.js";

/** Who writes an object, and how what is secret of it is kept. */
export interface Writer {
  readonly userId: string;
  /**
   * Checks that an address is one that this deployment calls, as far as that is known before its name is looked up.
   *
   * @param member names it in the refusal.
   * @throws ConnectError invalid_argument.
   */
  checkAddress(member: string, url: string): void;
  /**
   * Patterns of tools, each of which names a tool that there is.
   *
   * @param before is not asked about again.
   * @throws ConnectError invalid_argument, with the nearest name.
   */
  knownTools(patterns: readonly string[], before?: readonly string[]): readonly string[];
  /** The id of the object. */
  readonly id: string;
  /** @param field names the text among those that are sealed of the object. */
  seal(text: string, field: string): string;
  /** Of which kinds objects are that the kind refers to, as far as the writer can see them: their ids by the noun. */
  seen(ids: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>>;
  /** Another object of the kind. @throws ConnectError not_found, also for one that the writer cannot read. */
  another(id: string): Promise<ObjectRecord>;
  /** What stands for the writer from now on, a secret: for what the object has done in the writer's name. */
  delegate(options: DelegationOptions): Promise<Delegation>;
}

/** The one who calls, as the writer of the object with the id. */
export function writerFor(context: Context, model: Model, id: string, call: Call): Writer {
  const { seal, collection, delegations, outgoing, toolNames } = context;
  const { caller } = call;
  return {
    userId: caller.id,
    checkAddress(member, url) {
      const refusal = refusalOf(createGuard(outgoing), url);
      if (refusal !== undefined) throw invalidArgument(`${member}: ${refusal.message}`);
    },
    knownTools(patterns, before = []) {
      if (toolNames !== undefined)
        checkToolNames(
          patterns.filter((one) => !before.includes(one)),
          toolNames,
        );
      return patterns;
    },
    id,
    seal: (text, field) => seal.seal(text, placeOf(model, id, field)),
    async seen(ids) {
      const found = new Map<string, readonly string[]>();
      if (ids.length === 0) return found;
      const filter = { _id: { $in: [...ids] }, ...filterOf(caller, "read") };
      for (const noun of new Set(Object.values(model.references))) {
        const seen = await collection(noun)
          .find(filter, { projection: { _id: 1 } })
          .toArray();
        const there = new Set(seen.map(({ _id }) => _id));
        found.set(
          noun,
          ids.filter((one) => there.has(one)),
        );
      }
      return found;
    },
    another: (other) => readable(context, model.noun, other, caller),
    delegate: (options) => delegations.create(call, options),
  };
}
